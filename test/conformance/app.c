/*
 * The application of the conformance cases: `app FILE STEP...`. It appends what happens to it to FILE, one fact a line, and takes
 * the steps: out TEXT, sleep MS, words WORD... (prints the rest, one a line), environment, stdin (copies it to stdout),
 * until SIGNAL CODE (notes each signal; SIGNAL ends it with CODE), die SIGNAL, exit CODE.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static int report;
static volatile sig_atomic_t came[65];

static void note(int number) {
  char line[32];
  int length = snprintf(line, sizeof line, "signal %d\n", number);
  (void)!write(report, line, (size_t)length);
  came[number] = 1;
}

static int waits(char **steps) {
  for (; *steps; steps++)
    if (strcmp(*steps, "until") == 0) return 1;
  return 0;
}

/* Does not note SIGCHLD, nor SIGURG, which Go's runtime sends around. */
static void listen_to_all(void) {
  struct sigaction action = {.sa_handler = note};
  sigfillset(&action.sa_mask);
  for (int number = 1; number <= 64; number++)
    if (number != SIGCHLD && number != SIGURG) sigaction(number, &action, NULL);
}

static void say_started(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  dprintf(report, "started %lld\n", now.tv_sec * 1000000000ll + now.tv_nsec);
}

static void until(int number) {
  sigset_t all, none;
  sigfillset(&all);
  sigemptyset(&none);
  sigprocmask(SIG_BLOCK, &all, NULL);
  while (!came[number]) sigsuspend(&none); /* it may come before this is asked for */
}

static void die(int number) {
  setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
  signal(number, SIG_DFL);
  raise(number);
  pause();
}

static void copy_stdin(void) {
  char bytes[4096];
  ssize_t count;
  while ((count = read(0, bytes, sizeof bytes)) > 0) (void)!write(1, bytes, (size_t)count);
}

static char **step(char **at) {
  const char *name = *at++;
  if (strcmp(name, "exit") == 0) exit(atoi(*at));
  if (strcmp(name, "out") == 0) printf("%s\n", *at++);
  else if (strcmp(name, "sleep") == 0) usleep((useconds_t)atoi(*at++) * 1000);
  else if (strcmp(name, "die") == 0) die(atoi(*at));
  else if (strcmp(name, "stdin") == 0) copy_stdin();
  else if (strcmp(name, "environment") == 0)
    for (char **variable = environ; *variable; variable++) puts(*variable);
  else if (strcmp(name, "words") == 0)
    for (; *at; at++) puts(*at);
  else if (strcmp(name, "until") == 0) {
    until(atoi(at[0]));
    exit(atoi(at[1]));
  } else exit(100);
  return at;
}

int main(int argc, char **argv) {
  if (argc < 2) return 101;
  report = open(argv[1], O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
  if (report < 0) return 102;
  setvbuf(stdout, NULL, _IOLBF, 0);
  if (waits(argv + 2)) listen_to_all();
  say_started();
  for (char **at = argv + 2; *at;) at = step(at);
  return 0;
}
