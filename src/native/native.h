/*
 * What JavaScript cannot do: before Bun's first instruction, in a signal handler, and between fork and exec; and what costs
 * too much there. module.c makes it a Node-API module, which src/system/native/native.ts types.
 */
#pragma once
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#define LAST_SIGNAL 64
#define BIT(signal) (1ull << ((signal)-1))

/* What a fault raises. */
#define FAULTS \
  (BIT(SIGILL) | BIT(SIGTRAP) | BIT(SIGABRT) | BIT(SIGBUS) | BIT(SIGFPE) | BIT(SIGSEGV) | BIT(SIGSYS))

/* What Bun, JavaScriptCore (SIGPWR) and musl (32 to 34) send themselves, or the kernel sends them for what they do. */
#define RUNTIME_SIGNALS (FAULTS | BIT(SIGPWR) | BIT(32) | BIT(33) | BIT(34))

/* What ebb was started with. */
struct inherited {
  char **argv, **environ;
  uint64_t ignored, blocked;
  pid_t parent;
  /* Open when the working directory had been removed, which Bun does not start in; else -1. */
  int folder;
  int descriptor_count, *descriptors;
};
extern struct inherited ebb_inherited;

/* Noted by entry.c, which then holds all signals until JavaScript listens: PID 1 loses one that nobody listens to, unless it is
 * blocked (kernel: sig_ignored). */
extern uint64_t ebb_blocked_at_start;
extern pid_t ebb_parent_at_start;

/* Set once the child is about to start: from then on it gets signals too that ebb was started with as ignored. */
extern int ebb_has_child;

/* Set where the child is in ebb's own process group: it gets what the terminal sends without ebb. */
extern int ebb_shares_group;

/* The signal that ebb gets when its parent dies; 0: none. */
extern int ebb_parent_signal;

/* Set while another program takes ebb's place: signals.c then decides itself about those that come. */
extern int ebb_is_replaced;

/* The start is over: from here on the kernel reads the executable as any other (pages.c). */
void ebb_settle(void);

/* Ends ebb with a reason where a limit is too low for any command. */
void ebb_check_limits(void);

/* pthread_create(3) for a thread that ebb can do without. */
int ebb_start_thread(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument);

/* The kernel's form: musl hides 32 to 34, which it uses itself, in its own. */
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

/* How the child stands to ebb's terminal, and to other children; system/process/child.ts reads it. */
struct place {
  int terminal;      /* a descriptor of it, -1 where ebb has none */
  int is_foreground; /* ebb is: the terminal is ebb's to give */
  int shares_group;
  int has_others; /* ebb had children before this one */
};

int ebb_exec(const char *file, char **argv);
int ebb_spawn(const char *file, char **argv, int leads, struct place *place);

/* What ebb_next_signal says of a signal besides its number: ebb was started with it ignored; it came before the child, which
 * would die of it. system/process/signals.ts reads them. */
#define WAS_IGNORED 0x100
#define IS_EARLY 0x200

void ebb_catch(int number);
void ebb_catch_early(void);
void ebb_listen(void);
int ebb_next_signal(void);
int ebb_stop(void);
void ebb_suspend(void);
void ebb_parent_death(int number);

struct contents {
  char *at;
  size_t length;
};

ssize_t ebb_write_now(int descriptor, const char *at, size_t length);

struct contents ebb_read_file(const char *path, size_t most);
void ebb_free_contents(struct contents contents);
struct contents ebb_listeners(void);

int ebb_check_connect(const char *place, int port);
int ebb_ask(const char *place, int port, const char *request, size_t length);
ssize_t ebb_receive(int descriptor, int within_ms, char *buffer, size_t room);

union ebb_address {
  struct sockaddr any;
  struct sockaddr_in v4;
  struct sockaddr_in6 v6;
  struct sockaddr_un unix_;
};

/* A loopback address as text, or the path of a unix socket. Its length, or minus errno. */
int ebb_local_address(const char *place, int port, union ebb_address *address);

#define MOST_PLACES 2

/* What watch.c asks for: to the places, one after the other, the request; without an answer they are to refuse. */
struct ebb_watch {
  union ebb_address places[MOST_PLACES];
  socklen_t place_sizes[MOST_PLACES]; /* 0: there is none */
  const char *request, *answer;
  size_t request_length, answer_length;
  int period_us;
  int is_kept; /* the connection, from one request to the next */
};

/* A number for the other two, or minus errno. When something else is heard than the answer, SIGCHLD is raised. */
int ebb_watch_start(const struct ebb_watch *what);
int ebb_watch_has_changed(int number);
void ebb_watch_stop(int number);
