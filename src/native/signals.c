/*
 * Signals for the child: noted in a ring, in their order, real-time ones too, which Bun has no names for. Each note raises
 * SIGCHLD, the one signal that JavaScript listens to, and which then asks for what was noted.
 */
#include "native.h"

#define RING 4096

static int ring[RING];
static unsigned written, taken;

/* SIGPIPE and SIGXFSZ are also what the kernel sends ebb for ebb's own writing, with ebb's own pid: not the child's. */
static void note(int number, siginfo_t *info, void *context) {
  (void)context;
  if ((number == SIGPIPE || number == SIGXFSZ) && info->si_pid == getpid()) return;
  int error = errno;
  if (__atomic_load_n(&written, __ATOMIC_SEQ_CST) - __atomic_load_n(&taken, __ATOMIC_SEQ_CST) < RING) {
    unsigned at = __atomic_fetch_add(&written, 1, __ATOMIC_SEQ_CST);
    __atomic_store_n(&ring[at % RING], number, __ATOMIC_SEQ_CST);
  }
  kill(getpid(), SIGCHLD);
  errno = error;
}

/* All but what nobody can catch, what is about ebb itself, and what the runtime needs: core/signal.ts says why. */
static int is_forwarded(int signal) {
  static const uint64_t kept =
    RUNTIME_SIGNALS | BIT(SIGKILL) | BIT(SIGSTOP) | BIT(SIGCHLD) | BIT(SIGTTIN) | BIT(SIGTTOU);
  return !((kept | ebb_inherited.ignored) & BIT(signal));
}

/* Catches what can be forwarded, and lets through what before-bun.c has held. */
void ebb_listen(void);
void ebb_listen(void) {
  struct sigaction action = {.sa_sigaction = note, .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
  sigfillset(&action.sa_mask); /* one after the other: of several that wait, the kernel gives the lowest first */
  for (int signal = 1; signal <= LAST_SIGNAL; signal++)
    if (is_forwarded(signal)) sigaction(signal, &action, NULL);
  kernel_sigmask(SIG_SETMASK, &(uint64_t){0}, NULL);
}

/* The next signal that was noted, 0 when there is none. */
int ebb_next_signal(void);
int ebb_next_signal(void) {
  unsigned at = __atomic_load_n(&taken, __ATOMIC_SEQ_CST);
  if (at == __atomic_load_n(&written, __ATOMIC_SEQ_CST)) return 0;
  int number = __atomic_exchange_n(&ring[at % RING], 0, __ATOMIC_SEQ_CST);
  if (number != 0) __atomic_store_n(&taken, at + 1, __ATOMIC_SEQ_CST);
  return number; /* 0 also where another thread is just writing it: its SIGCHLD comes after */
}
