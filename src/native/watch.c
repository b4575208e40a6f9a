/*
 * Watches a place that is not ready, in a thread: repeats the request that JavaScript has sent, while the answer is the
 * same to the byte. JavaScript, which takes four fifths of the processor time of an attempt, sleeps meanwhile.
 */
#include "native.h"
#include <limits.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>

/* From linux/futex.h, which musl does not have: private futexes, with CLOCK_MONOTONIC. */
#define FUTEX_WAKE (1 | 128)
#define FUTEX_WAIT_UNTIL (9 | 128)
#define FUTEX_ANYBODY (-1)

#define MOST 8
#define STACK (256 * 1024)
#define SECOND 1000000000ll

enum { FREE, RUNNING, CHANGED, STOPPED };
enum exchanged { ENDED, SAME, OTHER };

static _Atomic int states[MOST];

/* A watch and, behind it in the same mapping, copies of what `what` points to. */
struct watch {
  struct ebb_watch what;
  size_t size;
  int number, descriptor;
  char copies[];
};

static long long now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * SECOND + now.tv_nsec;
}

/* Sleeps, and returns 0 if the watch was stopped. */
static int sleep_until(const struct watch *watch, long long ns) {
  struct timespec time = {ns / SECOND, ns % SECOND};
  _Atomic int *state = &states[watch->number];
  while (*state == RUNNING && now_ns() < ns)
    syscall(SYS_futex, state, FUTEX_WAIT_UNTIL, RUNNING, &time, NULL, FUTEX_ANYBODY);
  return *state == RUNNING;
}

static int limit_waits(const struct watch *watch, int descriptor) {
  struct timeval limit = {watch->what.period_us / 1000000, watch->what.period_us % 1000000};
  setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit); /* for connect(2), too */
  return setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
}

/* Connects to the first place that does not refuse. Returns the connection's descriptor, or minus errno. */
static int open_connection(const struct watch *watch) {
  const struct ebb_watch *what = &watch->what;
  int error = ECONNREFUSED;
  for (int i = 0; i < MOST_PLACES && what->place_sizes[i] > 0 && error == ECONNREFUSED; i++) {
    int descriptor = socket(what->places[i].any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return -errno;
    limit_waits(watch, descriptor);
    if (connect(descriptor, &what->places[i].any, what->place_sizes[i]) == 0) return descriptor;
    error = errno == ENOENT ? ECONNREFUSED : errno; /* a Unix socket may not be there yet */
    close(descriptor);
  }
  return -error;
}

static enum exchanged exchange(const struct watch *watch) {
  const struct ebb_watch *what = &watch->what;
  char piece[1024];
  size_t heard = 0;
  long long end = now_ns() + what->period_us * 1000ll;
  if (send(watch->descriptor, what->request, what->request_length, MSG_NOSIGNAL) < (ssize_t)what->request_length) return ENDED;
  while (heard < what->answer_length) {
    ssize_t count = recv(watch->descriptor, piece, sizeof piece, 0);
    if (count <= 0) return heard == 0 && (count == 0 || errno != EAGAIN) ? ENDED : OTHER;
    if (now_ns() > end) return OTHER; /* it comes bit by bit */
    if ((size_t)count > what->answer_length - heard || memcmp(piece, what->answer + heard, count) != 0) return OTHER;
    heard += count;
  }
  return SAME;
}

static void hang_up(struct watch *watch) {
  if (watch->descriptor >= 0) close(watch->descriptor);
  watch->descriptor = -1;
}

static int is_same(struct watch *watch) {
  enum exchanged result = ENDED;
  if (watch->descriptor >= 0) result = exchange(watch);
  if (result != ENDED) return result == SAME;
  hang_up(watch); /* a server may end a connection that is idle */
  int descriptor = open_connection(watch);
  if (watch->what.answer_length == 0 || descriptor < 0) {
    if (descriptor >= 0) close(descriptor);
    return descriptor == -ECONNREFUSED && watch->what.answer_length == 0;
  }
  watch->descriptor = descriptor;
  result = exchange(watch);
  if (!watch->what.is_kept) hang_up(watch);
  return result == SAME;
}

static void *run(void *given) {
  struct watch *watch = given;
  int number = watch->number, running = RUNNING;
  long long period = watch->what.period_us * 1000ll, next = now_ns() + period;
  while (sleep_until(watch, next) && is_same(watch)) {
    long long now = now_ns();
    next = next + period > now ? next + period : now + period;
  }
  hang_up(watch);
  munmap(watch, watch->size);
  if (__atomic_compare_exchange_n(&states[number], &running, CHANGED, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) kill(getpid(), SIGCHLD);
  else states[number] = FREE;
  return NULL;
}

static struct watch *copy(const struct ebb_watch *what) {
  size_t size = sizeof(struct watch) + what->request_length + what->answer_length;
  struct watch *made = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (made == MAP_FAILED) return NULL;
  *made = (struct watch){.what = *what, .size = size, .descriptor = -1};
  made->what.request = memcpy(made->copies, what->request, what->request_length);
  made->what.answer = memcpy(made->copies + what->request_length, what->answer, what->answer_length);
  return made;
}

/* Starts the thread with all signals blocked, so that the first thread gets them. */
static int start_thread(struct watch *watch) {
  pthread_t thread;
  pthread_attr_t attributes;
  uint64_t before;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, STACK);
  kernel_sigmask(SIG_SETMASK, &(uint64_t){~0ull}, &before);
  int error = ebb_start_thread(&thread, &attributes, run, watch);
  kernel_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
  return error;
}

int ebb_watch_start(const struct ebb_watch *what) {
  int number = 0, error;
  while (number < MOST && states[number] != FREE) number++;
  if (number == MOST) return -EAGAIN;
  struct watch *watch = copy(what);
  if (watch == NULL) return -ENOMEM;
  watch->number = number;
  states[number] = RUNNING;
  error = start_thread(watch);
  if (error == 0) return number;
  states[number] = FREE;
  munmap(watch, watch->size);
  return -error;
}

int ebb_watch_has_changed(int number) { return states[number] == CHANGED; }

/* The thread ends soon: at once if it sleeps, within a period if it waits for an answer. */
void ebb_watch_stop(int number) {
  int running = RUNNING;
  if (__atomic_compare_exchange_n(&states[number], &running, STOPPED, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
    syscall(SYS_futex, &states[number], FUTEX_WAKE, INT_MAX);
  else if (running == CHANGED) states[number] = FREE;
}
