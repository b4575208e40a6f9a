/* Starts the child with what ebb was started with, and nothing of Bun's own. posix_spawn cannot do all of that. */
#include "native.h"
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

static int is_inherited(int descriptor) {
  for (int i = 0; i < ebb_inherited.descriptor_count; i++)
    if (ebb_inherited.descriptors[i] == descriptor) return 1;
  return 0;
}

/* Bun marks inherited descriptors close-on-exec, and opens /dev/null for a standard one that is closed. */
static void give_descriptors(void) {
  for (int i = 0; i < ebb_inherited.descriptor_count; i++) fcntl(ebb_inherited.descriptors[i], F_SETFD, 0);
  for (int standard = 0; standard <= 2; standard++)
    if (!is_inherited(standard)) fcntl(standard, F_SETFD, FD_CLOEXEC);
}

/*
 * Reports whether execve itself will set the signal to its default. ebb's handler stays until then, so that a signal
 * does not end ebb if the command cannot be executed.
 */
static int is_reset_by_exec(int signal) {
  struct kernel_action now = {0};
  if (!ebb_is_replaced || (ebb_inherited.ignored & BIT(signal))) return 0;
  return kernel_sigaction(signal, NULL, &now) == 0 && now.handler != SIG_IGN;
}

/*
 * Gives the child its dispositions and mask. Returns less than 0 if that fails: a child with all signals blocked would
 * get none.
 */
static int give_signals(void) {
  for (int signal = 1; signal <= LAST_SIGNAL; signal++) {
    if (is_reset_by_exec(signal)) continue;
    struct kernel_action action = {.handler = ebb_inherited.ignored & BIT(signal) ? SIG_IGN : SIG_DFL};
    if (kernel_sigaction(signal, &action, NULL) != 0 && signal != SIGKILL && signal != SIGSTOP) return -1;
  }
  return (int)kernel_sigmask(SIG_SETMASK, &ebb_inherited.blocked, NULL);
}

int ebb_exec(const char *file, char **argv) {
  give_descriptors();
  if (ebb_inherited.folder >= 0 && fchdir(ebb_inherited.folder) != 0) return -errno;
  if (give_signals() != 0) return -errno;
  execvpe(file, argv, ebb_inherited.environ);
  return -errno;
}

static int is_pipe(int descriptor) {
  struct stat status;
  return fstat(descriptor, &status) == 0 && S_ISFIFO(status.st_mode);
}

/*
 * Finds ebb's terminal, and whether the child shares ebb's group. In a pipeline at a terminal it does, as it would
 * without ebb: the terminal cannot be given to it without taking it from the others (`ebb run -- cat file | less`).
 */
static struct place find_place(int leads) {
  for (int standard = 0; standard <= 2; standard++) {
    pid_t foreground = tcgetpgrp(standard);
    if (foreground < 0) continue;
    int is_foreground = foreground == getpgrp();
    return (struct place){standard, is_foreground, !leads && is_foreground && (is_pipe(0) || is_pipe(1)), 0};
  }
  return (struct place){.terminal = -1};
}

/* Reports whether ebb has children of the program whose place it has taken: `sh -c 'daemon & exec ebb run -- app'`. */
static int has_children(void) {
  siginfo_t info;
  return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

/*
 * Starts a process, and returns its PID, or minus errno. It has a group of its own if it `leads` one or is not in a
 * pipeline; if ebb is in the foreground, that group has ebb's terminal from its first instant. The reason why exec
 * failed comes through a pipe, so that it does not matter whether vfork shares memory. ebb adopts the child's orphans,
 * as PID 1 does.
 */
int ebb_spawn(const char *file, char **argv, int leads, struct place *place) {
  int ends[2], error = 0;
  uint64_t all = ~0ull, mask;
  if (pipe2(ends, O_CLOEXEC) != 0) return -errno;
  if (getpid() != 1) prctl(PR_SET_CHILD_SUBREAPER, 1);
  *place = find_place(leads);
  place->has_others = has_children();
  int gives = place->is_foreground && !place->shares_group;
  kernel_sigmask(SIG_SETMASK, &all, &mask); /* no handler of ours runs in the child */
  ebb_has_child = 1;
  ebb_shares_group = place->shares_group;
  pid_t pid = vfork();
  if (pid == 0) {
    if (!place->shares_group) setpgid(0, 0);
    if (gives) tcsetpgrp(place->terminal, getpid());
    if (ebb_parent_signal == SIGKILL) prctl(PR_SET_PDEATHSIG, SIGKILL); /* ebb could not forward it */
    int failure = -ebb_exec(file, argv);
    (void)!write(ends[1], &failure, sizeof failure);
    _exit(127);
  }
  if (pid < 0) error = errno;
  close(ends[1]);
  if (pid > 0 && read(ends[0], &error, sizeof error) == sizeof error) {
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR);
    if (gives) tcsetpgrp(place->terminal, getpgrp());
  }
  close(ends[0]);
  kernel_sigmask(SIG_SETMASK, &mask, NULL);
  return error ? -error : pid;
}
