/*
 * latency COUNT CMD ARG... runs CMD, whose child is `latency child`, and sends CMD SIGUSR1 COUNT times, each a few milliseconds
 * after the one before was received. It prints a line for each: the ns from just before kill(2) to the child's handler. Then it
 * sends SIGTERM.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static long long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000ll + time.tv_nsec;
}

static void tell(int number) {
  long long time = now();
  (void)number;
  (void)!write(1, &time, sizeof time);
}

static int child(void) {
  sigaction(SIGUSR1, &(struct sigaction){.sa_handler = tell, .sa_flags = SA_RESTART}, NULL);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  tell(0);
  for (;;) pause();
}

int main(int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "child") == 0) return child();
  if (argc < 3) return 64;
  int ends[2];
  pid_t pid;
  long long received;
  posix_spawn_file_actions_t files;
  if (pipe(ends) != 0) return 1;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, ends[1], 1);
  posix_spawn_file_actions_addclose(&files, ends[0]);
  posix_spawn_file_actions_addclose(&files, ends[1]);
  if (posix_spawn(&pid, argv[2], &files, NULL, argv + 2, environ) != 0) return 127;
  close(ends[1]);
  if (read(ends[0], &received, sizeof received) != sizeof received) return 1;
  usleep(300000); /* past its start */
  srand(pid);
  for (int left = atoi(argv[1]); left > 0; left--) {
    usleep(2000 + rand() % 3000);
    long long sent = now();
    kill(pid, SIGUSR1);
    if (read(ends[0], &received, sizeof received) != sizeof received) return 1;
    printf("%lld\n", received - sent);
  }
  kill(pid, SIGTERM);
  waitpid(pid, NULL, 0);
  return 0;
}
