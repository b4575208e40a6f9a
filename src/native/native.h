/*
 * Functions for what JavaScript cannot do (before Bun's first instruction, in a signal handler, between fork and exec)
 * or only at a high cost. module.c makes a Node-API module of them, which src/shared/native/native.ts types.
 */
#pragma once
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LAST_SIGNAL 64
#define BIT(signal) (1ull << ((signal)-1))

/* The signals that faults raise. */
#define FAULTS \
  (BIT(SIGILL) | BIT(SIGTRAP) | BIT(SIGABRT) | BIT(SIGBUS) | BIT(SIGFPE) | BIT(SIGSEGV) | BIT(SIGSYS))

/*
 * The signals that Bun, JavaScriptCore (SIGPWR) and musl (32 to 34) send themselves, or that the kernel sends for what
 * they do.
 */
#define RUNTIME_SIGNALS (FAULTS | BIT(SIGPWR) | BIT(32) | BIT(33) | BIT(34))

/* What ebb was started with. */
struct inherited {
  char **argv, **environ;
  uint64_t ignored, blocked;
  pid_t parent;
  /* A descriptor of the working directory if that has been removed, in which Bun does not start; else -1. */
  int folder;
  int descriptor_count, *descriptors;
};
extern struct inherited ebb_inherited;

/*
 * Set by entry.c, which then blocks all signals until JavaScript listens: PID 1 loses a signal without a handler,
 * unless it is blocked (kernel: sig_ignored).
 */
extern uint64_t ebb_blocked_at_start;
extern pid_t ebb_parent_at_start;

/* Set once the child is about to start: from then on ebb also takes signals that it was started with as ignored. */
extern int ebb_has_child;

/* Set if the child is in ebb's own process group: it gets the terminal's signals without ebb. */
extern int ebb_shares_group;

/* The signal that ebb gets when its parent dies; 0 if none. */
extern int ebb_parent_signal;

/*
 * Set while another program takes ebb's place: signals.c then handles signals itself, because JavaScript reads no more.
 */
extern int ebb_is_replaced;

/* Takes the executable's pages out of this process's memory; those that are needed come back one by one. */
void ebb_release_pages(void);

/* Ends ebb with exit code 71, and says why on stderr, if a resource limit is too low for any command. */
void ebb_check_limits(void);

/* The kernel's struct sigaction. musl's own functions hide the signals 32 to 34, which musl uses itself. */
struct kernel_action {
  void (*handler)(int);
  unsigned long flags;
  void (*restorer)(void);
  uint64_t mask;
};

static inline long kernel_sigaction(int signal, const struct kernel_action *new, struct kernel_action *old) {
  return syscall(SYS_rt_sigaction, signal, new, old, sizeof(uint64_t));
}

static inline long kernel_sigmask(int how, const uint64_t *new, uint64_t *old) {
  return syscall(SYS_rt_sigprocmask, how, new, old, sizeof(uint64_t));
}

/* How the child stands to ebb's terminal, and to other children. pod/process/child.ts reads it. */
struct place {
  int terminal;      /* a descriptor of ebb's terminal, -1 if there is none */
  int is_foreground; /* whether ebb's group is in the foreground there, so that ebb can give the terminal away */
  int shares_group;  /* whether the child is in ebb's own process group */
  int has_others;    /* whether ebb had children before this one */
};

/* Replaces this process by a program with what ebb was started with. Returns only if that fails: minus errno. */
int ebb_exec(const char *file, char **argv);
int ebb_spawn(const char *file, char **argv, int leads, struct place *place);

/*
 * Flags above the number of a signal, from ebb_next_signal: ebb was started with it ignored; it came before the child,
 * which would die of it. shared/process/signals.ts reads them.
 */
#define WAS_IGNORED 0x100
#define IS_EARLY 0x200

void ebb_catch(int number);
void ebb_catch_early(void);
void ebb_listen(void);
long ebb_hold_signals(uint64_t ends);
int ebb_next_signal(void);
int ebb_stop(void);
void ebb_suspend(void);
void ebb_parent_death(int number);

/* Bytes, to be freed by ebb_free_contents. Without an address there are none, because of a failure. */
struct contents {
  char *at;
  size_t length;
};

ssize_t ebb_write_now(int descriptor, const char *at, size_t length);

struct contents ebb_read_file(const char *path, size_t most);
void ebb_free_contents(struct contents contents);
struct contents ebb_listeners(void);

/* Added to what ebb_read_record returns. pod/run/peers.ts reads it. */
#define LOCKED 0x10000

long ebb_lock(const char *path, int is_own);
long ebb_write_record(int descriptor, const char *at, size_t length);
long ebb_read_record(const char *path, char *at, size_t length, int own);

int ebb_announce(const char *name);
int ebb_check_connect(const char *place, int port);
