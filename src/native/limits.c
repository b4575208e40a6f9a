/*
 * Checks resource limits with which Bun dies before it can say why, or waits for ever: ebb says so in one line and
 * exits with 71. It refuses only limits with which no command works (measured; between those and `enough` Bun may fail
 * and say so itself). RLIMIT_NPROC counts all of the user's processes, so that only a thread that cannot be started
 * shows that it is too low.
 */
#include "native.h"
#include <pthread.h>
#include <sys/resource.h>

#define EXIT_SYSTEM 71
#define MIB (1ull << 20)

struct need {
  int resource;
  const char *name, *how;
  uint64_t refused_below, enough;
};

static const struct need needs[] = {
    {RLIMIT_NOFILE, "RLIMIT_NOFILE", "ulimit -n", 5, 32},
    {RLIMIT_STACK, "RLIMIT_STACK", "ulimit -s", 136 << 10, 1 * MIB},
    {RLIMIT_AS, "RLIMIT_AS", "ulimit -v", 256 * MIB, 512 * MIB},
    {RLIMIT_DATA, "RLIMIT_DATA", "ulimit -d", 192 * MIB, 512 * MIB},
};

/* The line is not made by printf, which takes more stack than there may be. */
static char line[256];
static size_t length;

static void add(const char *text) {
  while (*text != 0 && length < sizeof line) line[length++] = *text++;
}

static void add_number(uint64_t number) {
  char digits[21], *at = digits + 20;
  *at = 0;
  do *--at = (char)('0' + number % 10);
  while (number /= 10);
  add(at);
}

static _Noreturn void refuse(const char *how) {
  add(": raise it (");
  add(how);
  add(")\n");
  ebb_write_now(2, line, length);
  _exit(EXIT_SYSTEM);
}

void ebb_check_limits(void) {
  for (size_t i = 0; i < sizeof needs / sizeof *needs; i++) {
    struct rlimit limit;
    if (getrlimit(needs[i].resource, &limit) != 0 || limit.rlim_cur >= needs[i].refused_below) continue;
    add("ebb: ");
    add(needs[i].name);
    add(" is ");
    add_number(limit.rlim_cur);
    add(", and ebb needs ");
    add_number(needs[i].enough);
    refuse(needs[i].how);
  }
}

/*
 * Replaces libc's weak pthread_create. Without any thread of its own Bun aborts, or never does what it gave to a
 * thread, so ebb ends if the first one cannot be started. Bun can do without later ones, and once there is a child the
 * child's exit code counts.
 */
int __pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument);
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument) {
  static int has_threads;
  int error = __pthread_create(thread, attributes, start, argument);
  if (error == 0) has_threads = 1;
  else if (!has_threads && !ebb_has_child) {
    struct rlimit limit = {.rlim_cur = 0};
    getrlimit(RLIMIT_NPROC, &limit);
    add("ebb: cannot start a thread: ");
    add(strerror(error));
    if (limit.rlim_cur != RLIM_INFINITY) {
      add("; RLIMIT_NPROC is ");
      add_number(limit.rlim_cur);
      add(", which counts all processes and threads of this user");
    }
    refuse("ulimit -u, or the limit of processes of the pod");
  }
  return error;
}
