/*
 * The application: app FILE exit|stop. It writes `started PID` to FILE, leaves an orphan, and waits until that is reaped. It ends
 * with 7, at once or at SIGTERM; with 8 if SIGTERM does not come, 9 if the orphan is not reaped, 10 if it was not started as ebb
 * was.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pid_t leave_orphan(void) {
  int ends[2];
  pid_t orphan = 0;
  if (pipe2(ends, O_CLOEXEC) != 0) _exit(121);
  pid_t parent = fork();
  if (parent == 0) {
    orphan = fork();
    if (orphan > 0) (void)!write(ends[1], &orphan, sizeof orphan);
    else usleep(5000);
    _exit(0);
  }
  close(ends[1]);
  if (read(ends[0], &orphan, sizeof orphan) != sizeof orphan) _exit(122);
  waitpid(parent, NULL, 0);
  return orphan;
}

/* Reports whether nothing is blocked or ignored, only three descriptors are open, and it has a group of its own. */
static int is_as_usual(void) {
  sigset_t blocked, none;
  sigemptyset(&none);
  if (sigprocmask(SIG_SETMASK, NULL, &blocked) != 0 || memcmp(&blocked, &none, sizeof(long)) != 0) return 0;
  for (int number = 1; number <= SIGSYS; number++) {
    struct sigaction action;
    if (sigaction(number, NULL, &action) == 0 && action.sa_handler != SIG_DFL) return 0;
  }
  for (int descriptor = 0; descriptor < 64; descriptor++)
    if ((fcntl(descriptor, F_GETFD) >= 0) != (descriptor <= 2)) return 0;
  return getpgrp() == getpid();
}

int main(int count, char **words) {
  if (count != 3) return 120;
  int isUsual = is_as_usual();
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTERM);
  sigprocmask(SIG_SETMASK, &stop, NULL);
  pid_t orphan = leave_orphan();
  int file = open(words[1], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  dprintf(file, "started %d\n", getpid());
  int isReaped = 0;
  for (int tries = 0; tries < 2000 && !isReaped; tries++) {
    isReaped = kill(orphan, 0) != 0 && errno == ESRCH;
    if (!isReaped) usleep(2000);
  }
  if (!isReaped) return 9;
  if (!isUsual) return 10;
  if (strcmp(words[2], "exit") == 0) return 7;
  return sigtimedwait(&stop, NULL, &(struct timespec){20, 0}) == SIGTERM ? 7 : 8;
}
