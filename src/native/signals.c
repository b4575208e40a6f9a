/*
 * Signals for the child: noted in a ring, in their order, real-time ones too, which Bun has no names for. Each note raises
 * SIGCHLD, the one signal that JavaScript listens to, and which then asks for what was noted.
 */
#include "native.h"
#include <sys/prctl.h>

#define RING 4096
#define SA_RESTORER 0x04000000

/* The way back from a handler, which the kernel wants to be told: SYS_rt_sigreturn. Libc's own has no name that all of them share. */
void ebb_restore(void);
__asm__(".text\n.hidden ebb_restore\n.type ebb_restore, %function\nebb_restore:\n"
#ifdef __x86_64__
        "mov $15, %eax\nsyscall\n"
#else
        "mov x8, 139\nsvc 0\n"
#endif
);

static int ring[RING];
static unsigned written, taken;
static uint64_t beyond; /* those that found the ring full, each once */
static struct kernel_action runtime[LAST_SIGNAL + 1];
int ebb_has_child, ebb_shares_group, ebb_parent_signal;
static unsigned continued;

/* What ebb itself has caused: the kernel then names ebb as the sender of SIGPIPE and SIGXFSZ. */
static int is_own(int number, const siginfo_t *info) {
  const uint64_t caused = BIT(SIGPIPE) | BIT(SIGXFSZ);
  if (BIT(number) & RUNTIME_SIGNALS) return info->si_code > 0 || info->si_code == SI_TIMER || info->si_pid == getpid();
  return (BIT(number) & caused) && info->si_pid == getpid();
}

/* To the runtime's own handler; where it has none, the signal comes again when this handler has returned, and does what it does by default. */
static void hand_on(int number, siginfo_t *info, void *context) {
  const struct kernel_action *own = &runtime[number];
  if (own->handler == SIG_IGN || !(BIT(number) & RUNTIME_SIGNALS)) return;
  if (own->handler != SIG_DFL) return ((void (*)(int, siginfo_t *, void *))(void *)own->handler)(number, info, context);
  kernel_sigaction(number, own, NULL);
  raise(number);
}

static void note(int number) {
  if (__atomic_load_n(&written, __ATOMIC_SEQ_CST) - __atomic_load_n(&taken, __ATOMIC_SEQ_CST) < RING) {
    unsigned at = __atomic_fetch_add(&written, 1, __ATOMIC_SEQ_CST);
    __atomic_store_n(&ring[at % RING], number, __ATOMIC_SEQ_CST);
  } else {
    __atomic_fetch_or(&beyond, BIT(number), __ATOMIC_SEQ_CST);
  }
  kill(getpid(), SIGCHLD);
}

static void handle(int number, siginfo_t *info, void *context) {
  int error = errno;
  if (is_own(number, info)) return hand_on(number, info, context);
  if ((ebb_inherited.ignored & BIT(number)) && !ebb_has_child) return;
  if (ebb_shares_group && info->si_code == SI_KERNEL) return;
  if (number == SIGCONT) continued++;
  note(number);
  errno = error;
}

/* One after the other: of several that wait, the kernel gives the lowest first. The runtime's keep its own ways. */
static void catch(int number) {
  struct kernel_action *own = &runtime[number];
  struct kernel_action action = {.flags = SA_ONSTACK, .mask = ~0ull};
  kernel_sigaction(number, NULL, own);
  if (BIT(number) & RUNTIME_SIGNALS) action = *own;
  action.flags = (action.flags & ~SA_RESETHAND) | SA_SIGINFO | SA_RESTART | SA_RESTORER;
  action.handler = (void (*)(int))(void *)handle;
  action.restorer = ebb_restore;
  kernel_sigaction(number, &action, NULL);
}

/*
 * Catches all but what nobody can catch and what is about ebb's own children, and lets through what before-bun.c has held.
 * Its own terminal stops ebb neither when it logs from the background (stty tostop) nor when it hands the terminal over.
 */
void ebb_listen(void) {
  static const uint64_t kept = BIT(SIGKILL) | BIT(SIGSTOP) | BIT(SIGCHLD) | BIT(SIGTTIN) | BIT(SIGTTOU);
  for (int number = 1; number <= LAST_SIGNAL; number++)
    if (!(kept & BIT(number))) catch (number);
  signal(SIGTTIN, SIG_IGN);
  signal(SIGTTOU, SIG_IGN);
  kernel_sigmask(SIG_SETMASK, &(uint64_t){0}, NULL);
}

static int next_noted(void) {
  unsigned at = __atomic_load_n(&taken, __ATOMIC_SEQ_CST);
  if (at != __atomic_load_n(&written, __ATOMIC_SEQ_CST)) {
    int number = __atomic_exchange_n(&ring[at % RING], 0, __ATOMIC_SEQ_CST);
    if (number != 0) __atomic_store_n(&taken, at + 1, __ATOMIC_SEQ_CST);
    return number; /* 0 where another thread is just writing it: its SIGCHLD comes after */
  }
  uint64_t left = __atomic_load_n(&beyond, __ATOMIC_SEQ_CST);
  if (left == 0) return 0;
  int number = __builtin_ctzll(left) + 1;
  __atomic_fetch_and(&beyond, ~BIT(number), __ATOMIC_SEQ_CST);
  return number;
}

/* The next signal that was noted, 0 when there is none; its negative where ebb was started with it ignored. */
int ebb_next_signal(void) {
  int number = next_noted();
  return number != 0 && (ebb_inherited.ignored & BIT(number)) ? -number : number;
}

/*
 * Stops ebb's process group as the terminal would, the other commands of a pipeline too, so that the shell sees a stopped job.
 * Returns when it goes on; 0 at once where there is no shell to continue it (the kernel then stops nobody).
 */
int ebb_stop(void) {
  struct kernel_action caught, stop = {.handler = SIG_DFL};
  unsigned before = continued;
  kernel_sigaction(SIGTSTP, &stop, &caught);
  kill(0, SIGTSTP);
  kernel_sigaction(SIGTSTP, &caught, NULL);
  return continued != before;
}

/* The parent may have died since ebb was started: then the kernel sends nothing more. */
void ebb_parent_death(int number) {
  ebb_parent_signal = number;
  prctl(PR_SET_PDEATHSIG, number);
  if (getppid() == ebb_inherited.parent) return;
  if (number == SIGKILL) kill(getpid(), number);
  else note(number);
}
