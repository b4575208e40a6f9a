/*
 * The application of the fault campaign: app SOCKET RUN STEP... Each of its processes tells what happens to it over a connection
 * of its own to SOCKET, a line for each fact: `RUN NANOSECONDS PID FACT`, by CLOCK_MONOTONIC. So the end of a connection is the
 * end of the process, and nothing that was told is lost.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_MS 15000

static int told = -1;
static const char *place, *run;
static volatile sig_atomic_t received[65];
static pid_t orphans[64];
static int orphan_count;

static long long now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000ll + now.tv_nsec;
}

/* Writes a line at once. A signal handler may call it, because it allocates no memory. */
static void tell(const char *format, ...) {
  char line[512];
  int length = snprintf(line, sizeof line, "%s %lld %d ", run, now_ns(), getpid());
  va_list values;
  va_start(values, format);
  length += vsnprintf(line + length, sizeof line - length - 1, format, values);
  va_end(values);
  line[length++] = '\n';
  (void)!write(told, line, length);
}

static void introduce(void) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  strncpy(address.sun_path, place, sizeof address.sun_path - 1);
  if (told >= 0) close(told);
  for (int tries = 0; tries < 500; tries++) {
    told = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(told, (struct sockaddr *)&address, sizeof address) == 0) return;
    close(told);
    usleep(10000);
  }
  _exit(120);
}

static void note(int number) {
  received[number] = 1;
  tell("signal %d", number);
}

static void note_signals(void) {
  struct sigaction action = {.sa_handler = note, .sa_flags = SA_RESTART};
  sigfillset(&action.sa_mask);
  for (int number = 1; number <= 64; number++)
    if (number != SIGCHLD) sigaction(number, &action, NULL);
  tell("noting");
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Sleeps, whatever signals come meanwhile. */
static void rest(long ms) {
  long long end = now_ns() + ms * 1000000ll;
  for (long long left; (left = end - now_ns()) > 0;) {
    struct timespec time = {left / 1000000000ll, left % 1000000000ll};
    nanosleep(&time, NULL);
  }
}

/* Waits for the signals of a list, `1,15,40`, and tells which of them are missing. */
static void await_signals(const char *list) {
  long long end = now_ns() + PATIENCE_MS * 1000000ll;
  for (const char *next = list; *next; next += strcspn(next, ","), next += *next == ',') {
    int number = atoi(next);
    while (!received[number] && now_ns() < end) rest(1);
    if (!received[number]) tell("missing %d", number);
  }
}

static int was_stopped(void) { return received[SIGINT] || received[SIGTERM]; }

static void await_stop(void) {
  long long end = now_ns() + PATIENCE_MS * 1000000ll;
  while (now_ns() < end) {
    if (was_stopped()) return;
    rest(1);
  }
  tell("unstopped");
}

/*
 * Forks a child that gets no signals until it restores the mask. By then it has a connection of its own; otherwise it would tell
 * of a signal as if it were its parent.
 */
static pid_t fork_deaf(sigset_t *before) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, before);
  pid_t child = fork();
  if (child != 0) sigprocmask(SIG_SETMASK, before, NULL);
  return child;
}

/* orphans:COUNT:MS: leaves COUNT processes without a parent, which live that long. */
static void make_orphans(const char *arguments) {
  int count = atoi(arguments), ms = atoi(strchr(arguments, ':') + 1), ends[2];
  while (count-- > 0 && orphan_count < 64) {
    if (pipe2(ends, O_CLOEXEC) != 0) _exit(121);
    sigset_t before;
    pid_t parent = fork_deaf(&before);
    if (parent == 0) {
      pid_t orphan = fork();
      if (orphan == 0) {
        introduce();
        sigprocmask(SIG_SETMASK, &before, NULL);
        tell("orphan");
        rest(ms);
        tell("end");
        _exit(7);
      }
      (void)!write(ends[1], &orphan, sizeof orphan);
      _exit(0);
    }
    if (read(ends[0], &orphans[orphan_count], sizeof(pid_t)) == sizeof(pid_t)) orphan_count++;
    close(ends[0]);
    close(ends[1]);
    waitpid(parent, NULL, 0);
  }
}

/* Waits until none of the orphans is left, not even as a zombie. */
static void await_reaped(void) {
  long long end = now_ns() + PATIENCE_MS * 1000000ll;
  for (int i = 0; i < orphan_count; i++) {
    char path[64], state[256] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", orphans[i]);
    while (access(path, F_OK) == 0 && now_ns() < end) rest(2);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) continue;
    (void)!read(file, state, sizeof state - 1);
    close(file);
    tell("zombie %d %s", orphans[i], strrchr(state, ')') ? strrchr(state, ')') + 2 : "?");
  }
  tell("reaped");
}

/* churn:MS: leaves one process after the other without a parent, until a stop signal. */
static void churn(long ms) {
  while (!was_stopped()) {
    sigset_t before;
    pid_t parent = fork_deaf(&before);
    if (parent == 0) {
      if (fork() == 0) _exit(7);
      _exit(0);
    }
    waitpid(parent, NULL, 0);
    rest(ms);
  }
}

/* Leaves a process in a session of its own, which only the campaign stops: it outlives ebb. */
static void make_daemon(void) {
  sigset_t before;
  pid_t parent = fork_deaf(&before);
  if (parent > 0) {
    waitpid(parent, NULL, 0);
    return;
  }
  setsid();
  if (fork() > 0) _exit(0);
  for (int number = 1; number <= 64; number++)
    if (number != SIGALRM) signal(number, SIG_IGN);
  int nowhere = open("/dev/null", O_RDWR);
  for (int standard = 0; standard <= 2; standard++) dup2(nowhere, standard);
  close(nowhere);
  introduce();
  sigprocmask(SIG_SETMASK, &before, NULL);
  tell("daemon");
  alarm(60);
  for (;;) pause();
}

static void die(int number) {
  sigset_t all;
  tell("raise %d", number);
  signal(number, SIG_DFL);
  sigfillset(&all);
  sigprocmask(SIG_UNBLOCK, &all, NULL);
  raise(number);
}

static void step(const char *name, const char *argument) {
  if (strcmp(name, "note") == 0) note_signals();
  if (strcmp(name, "sleep") == 0) rest(atol(argument));
  if (strcmp(name, "await") == 0) await_signals(argument);
  if (strcmp(name, "stop") == 0) await_stop();
  if (strcmp(name, "churn") == 0) churn(atol(argument));
  if (strcmp(name, "hold") == 0) rest(PATIENCE_MS);
  if (strcmp(name, "orphans") == 0) make_orphans(argument);
  if (strcmp(name, "reaped") == 0) await_reaped();
  if (strcmp(name, "daemon") == 0) make_daemon();
  if (strcmp(name, "close") == 0) close(STDOUT_FILENO);
  if (strcmp(name, "say") == 0 && dprintf(STDOUT_FILENO, "%s\n", argument) > 0) tell("said %s", argument);
  if (strcmp(name, "pause") == 0) {
    tell("pausing");
    raise(SIGSTOP);
    tell("continued");
  }
  if (strcmp(name, "raise") == 0) die(atoi(argument));
  if (strcmp(name, "exit") == 0) {
    tell("exit %d", atoi(argument));
    _exit(atoi(argument));
  }
}

/* Tells with what it was started: descriptors, then the signals that are blocked and ignored. */
static void start(const char *descriptors) {
  uint64_t ignored = 0, blocked;
  for (int number = 1; number <= 64; number++) {
    struct sigaction action;
    if (sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN) ignored |= 1ull << (number - 1);
  }
  sigset_t mask;
  sigprocmask(SIG_BLOCK, NULL, &mask);
  memcpy(&blocked, &mask, sizeof blocked);
  tell("start %s %llx %llx", descriptors, (unsigned long long)blocked, (unsigned long long)ignored);
}

/* --block SIGNAL,... FILE ARG...: becomes FILE, with these blocked */
static int block(char **args) {
  sigset_t set;
  sigemptyset(&set);
  for (const char *next = args[0]; *next; next += strcspn(next, ","), next += *next == ',') sigaddset(&set, atoi(next));
  sigprocmask(SIG_SETMASK, &set, NULL);
  execv(args[1], args + 1);
  return 102;
}

int main(int argc, char **argv) {
  if (argc > 3 && strcmp(argv[1], "--block") == 0) return block(argv + 2);
  char descriptors[256] = "";
  for (int i = 0; i < 1024; i++)
    if (fcntl(i, F_GETFD) >= 0 && strlen(descriptors) < 200) sprintf(descriptors + strlen(descriptors), "%s%d", *descriptors ? "," : "", i);
  setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
  place = argv[1];
  run = argv[2];
  introduce();
  start(descriptors);
  for (int i = 3; i < argc; i++) {
    char name[16] = "", *colon = strchr(argv[i], ':');
    size_t length = colon ? (size_t)(colon - argv[i]) : strlen(argv[i]);
    memcpy(name, argv[i], length < sizeof name ? length : sizeof name - 1);
    step(name, colon ? colon + 1 : "");
  }
  tell("exit 0");
  return 0;
}
