/*
 * stopwatch heard|silent|cold CMD ARG... runs CMD (silent, cold: its stdout is /dev/null; cold: nothing of it is in the page
 * cache), and then prints `took START END CODE CPU LEFT FAULTS READ`: CLOCK_MONOTONIC just before its start and just after its
 * end was seen (ns); its exit code, as a shell reports it; the processor time of it and the children that it waited for (us);
 * the number of its processes that it did not reap; its own page faults, minor and major; and the bytes that were read from a
 * disk. After two minutes CMD is killed.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;
static volatile pid_t running;

static long long monotonic_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000ll + now.tv_nsec;
}

static long long microseconds(struct timeval time) { return time.tv_sec * 1000000ll + time.tv_usec; }

static void give_up(int number) {
  (void)number;
  kill(running, SIGKILL);
}

/* Removes a file from the page cache, but not what a running process maps. */
static void forget(const char *path) {
  int file = open(path, O_RDONLY);
  fsync(file);
  posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
  close(file);
}

/* Reads the page faults, fields 10 and 12 of stat (proc(5)): wait4's rusage includes those of its children. */
static long faults_of(pid_t pid) {
  char path[32], text[1024] = "";
  long minor = -1, major = 0;
  snprintf(path, sizeof path, "/proc/%d/stat", pid);
  FILE *file = fopen(path, "r");
  if (file == NULL) return -1;
  (void)!fread(text, 1, sizeof text - 1, file);
  fclose(file);
  char *after_name = strrchr(text, ')');
  if (after_name != NULL) sscanf(after_name, ") %*c %*d %*d %*d %*d %*d %*u %ld %*u %ld", &minor, &major);
  return minor + major;
}

int main(int argc, char **argv) {
  pid_t pid;
  int status, left = 0;
  siginfo_t ended;
  struct rusage usage;
  posix_spawn_file_actions_t files;
  if (argc < 3) return 64;
  posix_spawn_file_actions_init(&files);
  if (strcmp(argv[1], "heard") != 0) posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
  if (strcmp(argv[1], "cold") == 0) forget(argv[2]);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  sigaction(SIGALRM, &(struct sigaction){.sa_handler = give_up, .sa_flags = SA_RESTART}, NULL);
  long long start = monotonic_ns();
  if (posix_spawn(&pid, argv[2], &files, NULL, argv + 2, environ) != 0) return 127;
  running = pid;
  alarm(120);
  if (waitid(P_PID, pid, &ended, WEXITED | WNOWAIT) != 0) return 1;
  long long end = monotonic_ns();
  long faults = faults_of(pid);
  if (wait4(pid, &status, 0, &usage) != pid) return 1;
  while (wait(NULL) > 0) left++;
  int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  long long used = microseconds(usage.ru_utime) + microseconds(usage.ru_stime);
  printf("took %lld %lld %d %lld %d %ld %ld\n", start, end, code, used, left, faults, usage.ru_inblock * 512); /* getrusage(2) */
  return 0;
}
