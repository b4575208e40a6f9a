/*
 * What ebb was started with, noted before Bun's first instruction, and what Bun shall see of it.
 *
 * Bun marks inherited descriptors close-on-exec, ignores SIGPIPE and SIGXFSZ, reads BUN_*, NODE_* and *_PROXY variables
 * that are meant for the application, and loses the signals that come before JavaScript listens. This runs first in the
 * init array; src/system/inherited.ts reads the record.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAX_DESCRIPTORS 1024

extern char **environ;

/* The layout is known to src/system/inherited.ts. */
static struct ebb_inherited {
  uint64_t ignored, blocked;
  char **argv, **environ;
  int64_t descriptor_count;
  int32_t descriptors[MAX_DESCRIPTORS];
} inherited;

void *ebb_inherited(void) { return &inherited; }

static void note_signals(void) {
  for (int signal = 1; signal <= 64; signal++) {
    struct sigaction action;
    if (sigaction(signal, NULL, &action) == 0 && action.sa_handler == SIG_IGN) inherited.ignored |= 1ull << (signal - 1);
  }
  sigset_t mask;
  sigprocmask(SIG_BLOCK, NULL, &mask);
  memcpy(&inherited.blocked, &mask, sizeof inherited.blocked);
}

static void note_descriptor(int descriptor) {
  int flags = fcntl(descriptor, F_GETFD);
  if (flags < 0 || (flags & FD_CLOEXEC) || inherited.descriptor_count == MAX_DESCRIPTORS) return;
  inherited.descriptors[inherited.descriptor_count++] = descriptor;
}

/* From /proc where there is one; else poll(2), which tells of many descriptors at once which are open. */
static void note_descriptors(void) {
  int folder = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) {
    static struct pollfd polled[MAX_DESCRIPTORS];
    for (int i = 0; i < MAX_DESCRIPTORS; i++) polled[i].fd = i;
    poll(polled, MAX_DESCRIPTORS, 0);
    for (int i = 0; i < MAX_DESCRIPTORS; i++)
      if (!(polled[i].revents & POLLNVAL)) note_descriptor(i);
    return;
  }
  static char buffer[8192] __attribute__((aligned(8)));
  for (long length; (length = syscall(SYS_getdents64, folder, buffer, sizeof buffer)) > 0;) {
    for (long at = 0; at < length;) {
      /* struct linux_dirent64: u64 inode, s64 offset, u16 record length, u8 type, name */
      const char *name = buffer + at + 19;
      int descriptor = 0;
      for (const char *c = name; *c >= '0' && *c <= '9'; c++) descriptor = descriptor * 10 + (*c - '0');
      if (*name != '.' && descriptor != folder) note_descriptor(descriptor);
      uint16_t size;
      memcpy(&size, buffer + at + 16, sizeof size);
      at += size;
    }
  }
  close(folder);
}

/* The kernel puts argc, argv, NULL, environ one after the other on the stack (System V ABI, process initialization). */
static char **find_argv(char **environment) {
  char **argv = environment - 2;
  for (uintptr_t count = 0; (uintptr_t)argv[0] != count; argv--) count++;
  return argv + 1;
}

/* Variables that would change Bun: they are the application's. NODE_EXTRA_CA_CERTS is for the cluster side's client. */
static int is_hidden(const char *variable) {
  static const char *const prefixes[] = {"BUN_",         "JSC_",        "MIMALLOC_",  "NODE_",      "HTTP_PROXY=",
                                         "HTTPS_PROXY=", "ALL_PROXY=",  "NO_PROXY=",  "http_proxy=", "https_proxy=",
                                         "all_proxy=",   "no_proxy="};
  if (strncmp(variable, "NODE_EXTRA_CA_CERTS=", 20) == 0) return 0;
  for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
    if (strncmp(variable, prefixes[i], strlen(prefixes[i])) == 0) return 1;
  return 0;
}

/*
 * One thread and little memory, for what only waits: no baseline compiler and no concurrent one (bun:ffi needs the
 * JIT as such), one collector, memory given back at once rather than by a thread of mimalloc's.
 */
static char *const lean[] = {"BUN_JSC_useBaselineJIT=0",  "BUN_JSC_useDFGJIT=0",       "BUN_JSC_useConcurrentJIT=0",
                             "BUN_JSC_useConcurrentGC=0", "BUN_JSC_numberOfGCMarkers=1", "MIMALLOC_PURGE_DELAY=0"};
#define LEAN (sizeof lean / sizeof *lean)

static void show_bun_less(void) {
  size_t count = 0;
  while (environ[count]) count++;
  size_t size = (count + LEAN + 1) * sizeof *environ;
  char **shown = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (shown == MAP_FAILED) return;
  char **next = shown;
  for (size_t i = 0; i < count; i++)
    if (!is_hidden(environ[i])) *next++ = environ[i];
  memcpy(next, lean, sizeof lean);
  environ = shown;
}

/* Held until JavaScript listens: PID 1 loses a signal that nobody listens to, unless it is blocked (kernel: sig_ignored). */
static void hold_signals(void) {
  static const int held[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM,   SIGTERM, SIGSTKFLT, SIGCONT,
                             SIGTSTP, SIGCHLD, SIGURG,  SIGXCPU, SIGIO,   SIGVTALRM, SIGPROF, SIGWINCH};
  sigset_t mask;
  sigemptyset(&mask);
  for (size_t i = 0; i < sizeof held / sizeof *held; i++) sigaddset(&mask, held[i]);
  sigprocmask(SIG_BLOCK, &mask, NULL);
}

static void before_bun(void) {
  note_signals();
  note_descriptors();
  inherited.environ = environ;
  inherited.argv = find_argv(environ);
  show_bun_less();
  hold_signals();
}

/* The runtime's linker script puts the lowest number first, before Bun's own init array. */
__attribute__((section(".init_array.00000"), used)) static void (*const first)(void) = before_bun;
