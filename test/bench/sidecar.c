/*
 * A sidecar that is as quick as possible, and has one life at a time. It reads lines, and answers each with a line:
 *   open MS unready|refused  -> the port. It is ready after MS; until then it says that it is not, or does not listen
 *   close                    -> READY QUIT ANSWERED QUITS: when it became ready, when the first quit came, when that was
 *                               answered (ns of CLOCK_MONOTONIC; 0: never), and the number of quits. The life is over
 * It answers as Envoy and linkerd-proxy do (/ready, /server_info, POST /quitquitquit and /shutdown), and ends after a quit.
 */
#define _GNU_SOURCE
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { COMMANDS, LISTENER, FIRST, SLOTS = 256 };

static struct pollfd slots[SLOTS]; /* fd -1: free */
static struct client {
  size_t length;
  char text[4096];
} clients[SLOTS];

static long long ready_at, ready, quit, answered;
static int quits, listener = -1; /* a socket that does not listen is not polled, because it counts as hung up */

static long long monotonic_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000ll + now.tv_nsec;
}

static void drop(int slot) {
  if (slots[slot].fd >= 0) close(slots[slot].fd);
  slots[slot].fd = -1;
  clients[slot].length = 0;
}

/* Closes the listener first, so that a client that sees its connection end can no longer connect. */
static void go(int except) {
  if (listener >= 0) close(listener);
  listener = slots[LISTENER].fd = -1;
  for (int slot = FIRST; slot < SLOTS; slot++)
    if (slot != except) drop(slot);
}

/* A port that is bound, but not listening, refuses connections, and nobody else can take it. */
static void start_listening(void) {
  if (slots[LISTENER].fd >= 0) return;
  if (listen(listener, 128) != 0) exit(1);
  slots[LISTENER] = (struct pollfd){.fd = listener, .events = POLLIN};
}

static void open_life(long long in_ms, int refuses) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  socklen_t size = sizeof address;
  go(0);
  ready = quit = answered = quits = 0;
  listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (listener < 0 || bind(listener, (void *)&address, sizeof address) != 0) exit(1);
  getsockname(listener, (void *)&address, &size);
  ready_at = monotonic_ns() + in_ms * 1000000;
  if (!refuses) start_listening();
  printf("%d\n", ntohs(address.sin_port));
}

static void turn_ready(void) {
  ready = monotonic_ns();
  start_listening();
}

static void obey(void) {
  char line[128], mode[16];
  long long in_ms;
  if (fgets(line, sizeof line, stdin) == NULL) exit(0);
  if (sscanf(line, "open %lld %15s", &in_ms, mode) == 2) return open_life(in_ms, strcmp(mode, "refused") == 0);
  go(0);
  printf("%lld %lld %lld %d\n", ready, quit, answered, quits);
}

static void take(void) {
  int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC), slot = FIRST;
  if (fd < 0) return;
  while (slot < SLOTS && slots[slot].fd >= 0) slot++;
  if (slot == SLOTS) exit(1);
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
  slots[slot] = (struct pollfd){.fd = fd, .events = POLLIN};
}

static void say(int slot, const char *status, const char *body) {
  char text[256];
  int length = snprintf(text, sizeof text, "HTTP/1.1 %s\r\ncontent-length: %zu\r\n\r\n%s", status, strlen(body), body);
  (void)!write(slots[slot].fd, text, length);
}

static void answer(int slot) {
  const char *text = clients[slot].text, *path = strchr(text, ' ');
  int is_quit = strncmp(text, "POST ", 5) == 0 && (strncmp(path, " /quit", 6) == 0 || strncmp(path, " /shut", 6) == 0);
  if (is_quit) {
    if (quits++ == 0) quit = monotonic_ns();
    go(slot);
    say(slot, "200 OK", "OK\n");
    if (quits == 1) answered = monotonic_ns();
    return drop(slot);
  }
  if (strncmp(path, " /server_info", 13) == 0) return say(slot, "200 OK", ready ? "{\"state\":\"LIVE\"}" : "{\"state\":\"PRE_INITIALIZING\"}");
  say(slot, ready ? "200 OK" : "503 Service Unavailable", ready ? "LIVE\n" : "PRE_INITIALIZING\n");
}

static void hear(int slot) {
  struct client *client = &clients[slot];
  ssize_t count = read(slots[slot].fd, client->text + client->length, sizeof client->text - 1 - client->length);
  if (count <= 0) return drop(slot);
  client->length += count;
  client->text[client->length] = 0;
  if (strstr(client->text, "\r\n\r\n") == NULL) return;
  client->length = 0;
  answer(slot);
}

static void wait_for_something(void) {
  int is_waiting = listener >= 0 && ready == 0;
  long long left = ready_at - monotonic_ns();
  if (is_waiting && left <= 0) return turn_ready();
  struct timespec timeout = {left / 1000000000, left % 1000000000};
  if (ppoll(slots, SLOTS, is_waiting ? &timeout : NULL, NULL) < 0) exit(1);
  for (int slot = SLOTS - 1; slot >= FIRST; slot--)
    if (slots[slot].fd >= 0 && slots[slot].revents) hear(slot);
  if (slots[LISTENER].fd >= 0 && slots[LISTENER].revents & POLLIN) take();
  if (slots[COMMANDS].revents) obey();
}

int main(void) {
  setvbuf(stdout, NULL, _IOLBF, 0);
  setvbuf(stdin, NULL, _IONBF, 0);
  signal(SIGPIPE, SIG_IGN);
  for (int slot = 0; slot < SLOTS; slot++) slots[slot].fd = -1;
  slots[COMMANDS] = (struct pollfd){.fd = 0, .events = POLLIN};
  for (;;) wait_for_something();
}
