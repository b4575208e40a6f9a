/*
 * launch SETTING... -- FILE ARG... becomes FILE, started as the settings say: umask OCTAL, ignore SIGNAL, block SIGNAL,
 * limit KIND SOFT, file NUMBER (opens /dev/null with that number). No other signal is blocked or ignored.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static void limit(int kind, rlim_t soft) {
  struct rlimit limit;
  getrlimit(kind, &limit);
  if (soft < limit.rlim_max) limit.rlim_cur = soft;
  setrlimit(kind, &limit);
}

static void open_at(int number) {
  int file = open("/dev/null", O_RDWR);
  if (file != number) {
    dup2(file, number);
    close(file);
  }
}

int main(int argc, char **argv) {
  sigset_t blocked;
  sigemptyset(&blocked);
  for (int number = 1; number <= 64; number++) signal(number, SIG_DFL);
  int at = 1;
  for (; at + 1 < argc && strcmp(argv[at], "--") != 0; at += 2) {
    const char *name = argv[at], *value = argv[at + 1];
    if (strcmp(name, "umask") == 0) umask((mode_t)strtol(value, NULL, 8));
    if (strcmp(name, "ignore") == 0) signal(atoi(value), SIG_IGN);
    if (strcmp(name, "block") == 0) sigaddset(&blocked, atoi(value));
    if (strcmp(name, "file") == 0) open_at(atoi(value));
    if (strcmp(name, "limit") == 0) limit(atoi(value), (rlim_t)atol(argv[++at + 1]));
  }
  sigprocmask(SIG_SETMASK, &blocked, NULL);
  execv(argv[at + 1], argv + at + 1);
  return 127;
}
