/*
 * Notes, before Bun's first instruction, what ebb was started with, and decides what Bun sees of it.
 *
 * Bun marks inherited descriptors close-on-exec, ignores SIGPIPE and SIGXFSZ, reads BUN_*, NODE_* and *_PROXY variables
 * that are meant for the application, and loses the signals that come before JavaScript listens. This runs first in the
 * init array.
 */
#include "native.h"
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>

extern char **environ;

struct inherited ebb_inherited = {.folder = -1};

static void note_signals(void) {
  for (int signal = 1; signal <= LAST_SIGNAL; signal++) {
    struct kernel_action action;
    if (kernel_sigaction(signal, NULL, &action) == 0 && action.handler == SIG_IGN) ebb_inherited.ignored |= BIT(signal);
  }
  signal(SIGPWR, SIG_DFL); /* JavaScriptCore uses it, and complains on stderr if it is ignored */
}

static int few[256];

/* Notes a descriptor that exec would keep open. Moves the list to a place twice as large if there is no room. */
static void note_descriptor(int descriptor) {
  static int room = sizeof few / sizeof *few;
  int flags = fcntl(descriptor, F_GETFD), count = ebb_inherited.descriptor_count;
  if (flags < 0 ? errno == EBADF : flags & FD_CLOEXEC) return;
  if (count == room) {
    int *more = mmap(NULL, 2 * room * sizeof *more, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (more == MAP_FAILED) return;
    memcpy(more, ebb_inherited.descriptors, count * sizeof *more);
    ebb_inherited.descriptors = more;
    room *= 2;
  }
  ebb_inherited.descriptors[ebb_inherited.descriptor_count++] = descriptor;
}

/*
 * Finds descriptors without /proc: poll(2) tells of many at once which are open. The kernel allows a million at most
 * (nr_open).
 */
static void find_descriptors(void) {
  ebb_inherited.descriptor_count = 0;
  static struct pollfd polled[1024];
  struct rlimit limit = {.rlim_cur = 1024};
  getrlimit(RLIMIT_NOFILE, &limit);
  int end = limit.rlim_cur < 1 << 20 ? (int)limit.rlim_cur : 1 << 20;
  for (int first = 0; first < end; first += 1024) {
    int count = end - first < 1024 ? end - first : 1024;
    for (int i = 0; i < count; i++) polled[i].fd = first + i;
    poll(polled, count, 0);
    for (int i = 0; i < count; i++)
      if (!(polled[i].revents & POLLNVAL)) note_descriptor(first + i);
  }
}

static void note_descriptors(void) {
  ebb_inherited.descriptors = few;
  int folder = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return find_descriptors();
  static char buffer[8192] __attribute__((aligned(8)));
  long length;
  while ((length = syscall(SYS_getdents64, folder, buffer, sizeof buffer)) > 0) {
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
  if (length < 0) find_descriptors();
}

/*
 * Opens closed standard descriptors. Bun aborts if one is closed and there is no /dev/null; the root folder is always
 * there.
 */
static void fill_standard_descriptors(void) {
  for (int standard = 0; standard <= 2; standard++)
    if (fcntl(standard, F_GETFD) < 0 && open("/dev/null", O_RDWR | O_CLOEXEC) < 0) (void)!open("/", O_RDONLY | O_CLOEXEC);
}

/*
 * Finds argv before environ: the kernel puts argc, argv, NULL, environ on the stack (System V ABI, process
 * initialization).
 */
static char **find_argv(char **environment) {
  char **argv = environment - 2;
  for (uintptr_t count = 0; (uintptr_t)argv[0] != count; argv--) count++;
  return argv + 1;
}

/*
 * Reports whether a variable is hidden from Bun, which it would change: it is the application's. NODE_EXTRA_CA_CERTS is
 * not hidden, because it is for targets that are asked by https.
 */
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
 * Settings for a process that only waits: no code made at run time, one garbage collector, memory given back at once.
 */
static char *const lean[] = {"BUN_JSC_useJIT=0", "BUN_JSC_useConcurrentGC=0", "BUN_JSC_useWarmUpMarkedBlocks=0",
                             "BUN_JSC_numberOfGCMarkers=1", "MIMALLOC_PURGE_DELAY=0"};
#define LEAN (sizeof lean / sizeof *lean)

/*
 * Reports whether a command works at a desk, rather than waits in every pod. It has all compilers: `ebb inject` is six
 * times as fast.
 */
static int is_worker(const char *command) {
  return command != NULL && strcmp(command, "inject") == 0;
}

static void show_bun_less(int is_lean) {
  size_t count = 0;
  while (environ[count]) count++;
  size_t size = (count + LEAN + 1) * sizeof *environ;
  char **shown = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (shown == MAP_FAILED) return;
  char **next = shown;
  for (size_t i = 0; i < count; i++)
    if (!is_hidden(environ[i])) *next++ = environ[i];
  if (is_lean) memcpy(next, lean, sizeof lean);
  environ = shown;
}

/*
 * Replaces libc's signal(). Bun ignores SIGPIPE and SIGXFSZ at its start, and the kernel would then drop one that has
 * come for the child by then. They stay blocked until ebb_listen catches them.
 */
void (*signal(int number, void (*handler)(int)))(int) {
  if (handler == SIG_IGN && (number == SIGPIPE || number == SIGXFSZ)) return SIG_DFL;
  struct sigaction new = {.sa_handler = handler, .sa_flags = SA_RESTART}, old;
  return sigaction(number, &new, &old) == 0 ? old.sa_handler : SIG_ERR;
}

/*
 * Replaces libc's weak sigaction(). Puts ebb's handler before those of the runtime's own signals, which are not made
 * for a signal that another process sends: one that comes meanwhile waits. JavaScriptCore unblocks SIGPWR as soon as it
 * has a handler. The signals of faults are unblocked here, so that Bun can say what ended it.
 */
int __sigaction(int number, const struct sigaction *new, struct sigaction *old);
int sigaction(int number, const struct sigaction *new, struct sigaction *old) {
  const uint64_t bit = number > 0 && number <= LAST_SIGNAL ? BIT(number) : 0;
  uint64_t before = 0;
  if (new == NULL || new->sa_handler == SIG_DFL || !(bit & (FAULTS | BIT(SIGPWR)))) return __sigaction(number, new, old);
  kernel_sigmask(SIG_BLOCK, &bit, &before);
  int result = __sigaction(number, new, old);
  if (result == 0) ebb_catch(number);
  if ((bit & FAULTS) || !(before & bit)) kernel_sigmask(SIG_UNBLOCK, &bit, NULL);
  return result;
}

/*
 * Has the kernel refuse memory that is writable and executable, and to make memory executable that was not. The app
 * does not inherit this: PR_MDWE_NO_INHERIT (Linux 6.6). An older kernel refuses the two flags together, and nothing
 * changes.
 */
static void refuse_new_code(void) {
#ifndef PR_SET_MDWE
#define PR_SET_MDWE 65
#define PR_MDWE_REFUSE_EXEC_GAIN 1
#define PR_MDWE_NO_INHERIT 2
#endif
  prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN | PR_MDWE_NO_INHERIT, 0, 0, 0);
}

/*
 * Keeps a working directory that was removed, for the child, and moves to the root folder: Bun does not start in a
 * removed one.
 */
static void note_folder(void) {
  char path[4096];
  if (syscall(SYS_getcwd, path, sizeof path) >= 0) return;
  ebb_inherited.folder = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (chdir("/") != 0) return; /* Bun then says what is wrong */
}

static void before_bun(void) {
  ebb_check_limits();
  ebb_inherited.blocked = ebb_blocked_at_start;
  note_signals();
  ebb_catch_early();
  note_descriptors();
  fill_standard_descriptors();
  note_folder();
  ebb_inherited.parent = ebb_parent_at_start;
  ebb_inherited.environ = environ;
  ebb_inherited.argv = find_argv(environ);
  int is_lean = !is_worker(ebb_inherited.argv[0] == NULL ? NULL : ebb_inherited.argv[1]);
  show_bun_less(is_lean);
  if (is_lean) refuse_new_code();
}

/* The runtime's linker script puts the lowest number first, before Bun's own init array. */
__attribute__((section(".init_array.00000"), used)) static void (*const first)(void) = before_bun;
