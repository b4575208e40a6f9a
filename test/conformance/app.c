/*
 * The application of the conformance cases: `app FILE STEP...`. It appends what happens to it to FILE, one fact a line, and takes
 * the steps: out TEXT, err TEXT, sleep MS, words WORD... (prints the rest, one a line), environment, stdin (copies it to stdout),
 * given (notes with what it was started), fork MS (leaves a process that lives that long), until SIGNAL CODE (notes each signal;
 * SIGNAL ends it with CODE), die SIGNAL, exit CODE.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static int report;
static int ignored[65];
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

static void say_when(const char *what) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  dprintf(report, "%s %lld\n", what, now.tv_sec * 1000000000ll + now.tv_nsec);
}

static void see_ignored(void) {
  struct sigaction action;
  for (int number = 1; number <= 64; number++)
    ignored[number] = sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

static void say_given(char **words) {
  char folder[4096] = "";
  sigset_t mask;
  for (int at = 0; words[at]; at++) dprintf(report, "given word %s\n", words[at]);
  for (char **variable = environ; *variable; variable++) dprintf(report, "given variable %s\n", *variable);
  mode_t bits = umask(0);
  umask(bits);
  dprintf(report, "given umask %o\ngiven folder %s\n", bits, getcwd(folder, sizeof folder));
  sigprocmask(SIG_BLOCK, NULL, &mask);
  for (int number = 1; number <= 64; number++) {
    if (sigismember(&mask, number) == 1) dprintf(report, "given blocked %d\n", number);
    if (ignored[number]) dprintf(report, "given ignored %d\n", number);
  }
  for (int kind = 0; kind < RLIM_NLIMITS; kind++) {
    struct rlimit limit;
    if (getrlimit(kind, &limit) == 0) dprintf(report, "given limit %d %ld %ld\n", kind, (long)limit.rlim_cur, (long)limit.rlim_max);
  }
  for (int file = 0; file < 256; file++) {
    struct stat stat;
    if (file != report && fstat(file, &stat) == 0)
      dprintf(report, "given file %d %o %o\n", file, stat.st_mode & S_IFMT, fcntl(file, F_GETFL));
  }
}

/* It holds what it has inherited, and no more. */
static void leave_behind(int ms) {
  if (fork() != 0) return;
  usleep((useconds_t)ms * 1000);
  _exit(0);
}

static void until(int number) {
  sigset_t all, none;
  sigfillset(&all);
  sigemptyset(&none);
  sigprocmask(SIG_BLOCK, &all, NULL);
  while (!came[number]) sigsuspend(&none); /* it may come before this is asked for */
}

static void end(int code) {
  say_when("ending");
  exit(code);
}

static void die(int number) {
  say_when("ending");
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

static char **step(char **words, char **at) {
  const char *name = *at++;
  if (strcmp(name, "exit") == 0) end(atoi(*at));
  if (strcmp(name, "out") == 0) printf("%s\n", *at++);
  else if (strcmp(name, "err") == 0) fprintf(stderr, "%s\n", *at++);
  else if (strcmp(name, "sleep") == 0) usleep((useconds_t)atoi(*at++) * 1000);
  else if (strcmp(name, "given") == 0) say_given(words);
  else if (strcmp(name, "fork") == 0) leave_behind(atoi(*at++));
  else if (strcmp(name, "die") == 0) die(atoi(*at));
  else if (strcmp(name, "stdin") == 0) copy_stdin();
  else if (strcmp(name, "environment") == 0)
    for (char **variable = environ; *variable; variable++) puts(*variable);
  else if (strcmp(name, "words") == 0)
    for (; *at; at++) puts(*at);
  else if (strcmp(name, "until") == 0) {
    until(atoi(at[0]));
    end(atoi(at[1]));
  } else exit(100);
  return at;
}

int main(int argc, char **argv) {
  if (argc < 2) return 101;
  report = open(argv[1], O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
  if (report < 0) return 102;
  setvbuf(stdout, NULL, _IOLBF, 0);
  see_ignored();
  if (waits(argv + 2)) listen_to_all();
  say_when("started");
  for (char **at = argv + 2; *at;) at = step(argv + 2, at);
  end(0);
}
