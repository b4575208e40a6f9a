/*
 * tracer OUT [ROLE NUMBER COUNT ERRNO] -- CMD... runs CMD, counts its system calls, and makes one of them fail: call NUMBER, when
 * ROLE makes it for the COUNTth time. Roles: `main`, the first thread; `thread`, any other of the same process; `child`, what it
 * forks, until that becomes another program, which is no longer traced. The file OUT gets `pid N`, at the end `call ROLE NUMBER
 * COUNT` for each call that was made, and `failed` if one was made to fail. It ends as CMD does.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/ptrace.h>

enum { MAIN, THREAD, CHILD, ROLES };
static const char *const roles[] = {"main", "thread", "child"};
#define CALLS 512

static int counts[ROLES][CALLS];
static pid_t first;
static int wanted_role = -1, wanted_call, wanted_count, wanted_error;
static pid_t failing; /* the thread whose call fails at its exit */
static int has_failed;

static int role_of(pid_t thread) {
  if (thread == first) return MAIN;
  char path[64], line[128];
  int group = 0;
  snprintf(path, sizeof path, "/proc/%d/status", thread);
  FILE *status = fopen(path, "re");
  while (status != NULL && fgets(line, sizeof line, status) != NULL)
    if (sscanf(line, "Tgid: %d", &group) == 1) break;
  if (status != NULL) fclose(status);
  return group == first ? THREAD : CHILD;
}

#ifdef __x86_64__
static void skip_call(pid_t thread) { ptrace(PTRACE_POKEUSER, thread, offsetof(struct user_regs_struct, orig_rax), -1l); }
static void set_result(pid_t thread, long value) { ptrace(PTRACE_POKEUSER, thread, offsetof(struct user_regs_struct, rax), value); }
#else
static void skip_call(pid_t thread) {
  int none = -1;
  struct iovec part = {&none, sizeof none};
  ptrace(PTRACE_SETREGSET, thread, NT_ARM_SYSTEM_CALL, &part);
}
static void set_result(pid_t thread, long value) {
  struct user_regs_struct registers;
  struct iovec part = {&registers, sizeof registers};
  ptrace(PTRACE_GETREGSET, thread, NT_PRSTATUS, &part);
  registers.regs[0] = value;
  ptrace(PTRACE_SETREGSET, thread, NT_PRSTATUS, &part);
}
#endif

/* Reports whether a call that is made to fail is made all the same: close(2) closes, whatever it returns. */
static int takes_place(int call) { return call == SYS_close; }

static void on_call(pid_t thread) {
  struct ptrace_syscall_info info;
  ptrace(PTRACE_GET_SYSCALL_INFO, thread, sizeof info, &info);
  if (info.op == PTRACE_SYSCALL_INFO_EXIT && failing == thread) {
    set_result(thread, -wanted_error);
    failing = 0;
    has_failed = 1;
  }
  if (info.op != PTRACE_SYSCALL_INFO_ENTRY || info.entry.nr >= CALLS) return;
  int role = role_of(thread), call = (int)info.entry.nr, count = ++counts[role][call];
  if (role != wanted_role || call != wanted_call || count != wanted_count || has_failed) return;
  if (!takes_place(call)) skip_call(thread);
  failing = thread;
}

static void go_on(pid_t thread, int status) {
  int number = WSTOPSIG(status), event = status >> 16, is_stopped = 0;
  switch (number) {
    case SIGTRAP | 0x80: on_call(thread); number = 0; break;
    case SIGSTOP: case SIGTSTP: case SIGTTIN: case SIGTTOU: is_stopped = event == PTRACE_EVENT_STOP; break;
    default: break;
  }
  if (event == PTRACE_EVENT_EXEC && thread != first) {
    ptrace(PTRACE_DETACH, thread, 0, 0);
    return;
  }
  if (event != 0) number = 0;
  ptrace(is_stopped ? PTRACE_LISTEN : PTRACE_SYSCALL, thread, 0, number);
}

static void start(char **command) {
  int ready[2];
  if (pipe2(ready, O_CLOEXEC) != 0) _exit(125);
  first = fork();
  if (first == 0) {
    char one;
    close(ready[1]);
    (void)!read(ready[0], &one, 1);
    execv(command[0], command);
    _exit(125);
  }
  long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC;
  if (ptrace(PTRACE_SEIZE, first, 0, options | PTRACE_O_EXITKILL) != 0) _exit(125);
  close(ready[0]);
  close(ready[1]);
}

/* Lets the program run to its end, and returns its exit code; its calls count from its first instruction on. */
static int follow(void) {
  int status, has_started = 0;
  for (;;) {
    pid_t thread = waitpid(-1, &status, __WALL);
    if (thread < 0) return 125;
    if (WIFEXITED(status) || WIFSIGNALED(status)) {
      if (thread == first) return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      continue;
    }
    if (thread == first && !has_started) {
      has_started = status >> 16 == PTRACE_EVENT_EXEC;
      if (has_started) memset(counts, 0, sizeof counts);
    }
    go_on(thread, status);
  }
}

int main(int count, char **words) {
  FILE *out = fopen(words[1], "we");
  int at = 2;
  if (strcmp(words[at], "--") != 0) {
    while (strcmp(roles[++wanted_role], words[2]) != 0);
    wanted_call = atoi(words[3]);
    wanted_count = atoi(words[4]);
    wanted_error = atoi(words[5]);
    at = 6;
  }
  (void)count;
  start(words + at + 1);
  fprintf(out, "pid %d\n", first);
  fflush(out);
  int code = follow();
  for (int role = 0; role < ROLES; role++)
    for (int call = 0; call < CALLS; call++)
      if (counts[role][call] > 0) fprintf(out, "call %s %d %d\n", roles[role], call, counts[role][call]);
  if (has_failed) fputs("failed\n", out);
  fclose(out);
  return code;
}
