/*
 * Notes signals for the child in a ring, in their order, also real-time signals, for which Bun has no names. Each note
 * raises SIGCHLD, the one signal that JavaScript listens to; JavaScript then reads the ring.
 */
#include "native.h"
#include <sys/prctl.h>

#define RING 4096
#define SA_RESTORER 0x04000000

/*
 * Returns from a handler by SYS_rt_sigreturn. The kernel has to be told such a function; libc's own has no name that
 * all libcs share.
 */
void ebb_restore(void);
__asm__(".text\n.hidden ebb_restore\n.type ebb_restore, %function\nebb_restore:\n"
#ifdef __x86_64__
        "mov $15, %eax\nsyscall\n"
#else
        "mov x8, 139\nsvc 0\n"
#endif
);

static int ring[RING];
static unsigned written, read_count;
static uint64_t beyond; /* the signals that found the ring full, each once */
static struct kernel_action runtime[LAST_SIGNAL + 1];
int ebb_has_child, ebb_shares_group, ebb_parent_signal, ebb_is_replaced;
static uint64_t ending; /* the signals that end ebb while another program takes its place */
static unsigned continued; /* how many SIGCONT came */
static int continues;      /* how many of them are in the ring */

/*
 * Reports whether ebb itself, or its runtime, has caused a signal: it has sent it, as the kernel says of SIGPIPE and
 * SIGXFSZ too, or the kernel has raised it for a fault. Other senders choose si_pid with any si_code that is below 0
 * and not SI_TKILL (rt_sigqueueinfo), and have the kernel choose one above 0 for a signal that no fault raises
 * (F_SETSIG).
 */
static int is_own(int number, const siginfo_t *info) {
  const uint64_t sent = RUNTIME_SIGNALS | BIT(SIGPIPE) | BIT(SIGXFSZ), raised = FAULTS & ~BIT(SIGABRT);
  if (info->si_code > 0) return (BIT(number) & raised) != 0;
  int has_sender = info->si_code == SI_USER || info->si_code == SI_TKILL;
  return (BIT(number) & sent) && has_sender && info->si_pid == getpid();
}

/*
 * Passes a signal to the runtime's own handler. If there is none, the signal comes again when this handler has
 * returned, and does what it does by default.
 */
static void hand_on(int number, siginfo_t *info, void *context) {
  const struct kernel_action *own = &runtime[number];
  if (own->handler == SIG_IGN || !(BIT(number) & RUNTIME_SIGNALS)) return;
  if (own->handler != SIG_DFL) return ((void (*)(int, siginfo_t *, void *))(void *)own->handler)(number, info, context);
  kernel_sigaction(number, own, NULL);
  raise(number);
}

/*
 * Returns IS_EARLY if there is no app yet, which could only die of the signal; 0 if there is, if the app starts with
 * the signal blocked, and so takes it when it likes, or if it is the signal of the parent's death: a parent dies once,
 * and the app is to get that.
 */
static int early(int number) {
  int is_kept = (ebb_inherited.blocked & BIT(number)) || number == ebb_parent_signal;
  return ebb_has_child || is_kept ? 0 : IS_EARLY;
}

/*
 * Takes the next place of the ring for this handler alone; NULL if there is none. Other handlers may have taken `at`
 * since it was read, and its signal may be read: the difference is then below 0, and `at` is read again.
 */
static int *take_place(void) {
  unsigned at = __atomic_load_n(&written, __ATOMIC_SEQ_CST);
  do
    if ((int)(at - __atomic_load_n(&read_count, __ATOMIC_SEQ_CST)) >= RING) return NULL;
  while (!__atomic_compare_exchange_n(&written, &at, at + 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
  return &ring[at % RING];
}

static void note(int number) {
  int *place = take_place();
  if (place == NULL) {
    __atomic_fetch_or(&beyond, BIT(number), __ATOMIC_SEQ_CST);
  } else {
    if (number == SIGCONT) __atomic_fetch_add(&continues, 1, __ATOMIC_SEQ_CST);
    __atomic_store_n(place, number | early(number), __ATOMIC_SEQ_CST);
  }
  kill(getpid(), SIGCHLD);
}

/*
 * Handles signals during exec: JavaScript no longer reads the ring, and execve discards it. A signal in `ending` ends
 * ebb here. A signal that the program starts with blocked is sent to the thread that becomes the program, and waits
 * there. Any other is dropped, since the program could only die of it.
 */
static void receive_late(int number) {
  if (ebb_inherited.blocked & BIT(number)) syscall(SYS_tgkill, getpid(), getpid(), number);
  else if (ending & BIT(number)) _exit(128 + number);
}

/*
 * Reports whether the child has got a signal as ebb has: from the terminal, which sends it to all of a group. Others of
 * the kernel's are for ebb alone: SIGALRM of an alarm that was set before ebb was started, SIGIO (F_SETOWN).
 */
static int is_shared(int number, const siginfo_t *info) {
  const uint64_t terminals = BIT(SIGHUP) | BIT(SIGINT) | BIT(SIGQUIT) | BIT(SIGTSTP) | BIT(SIGCONT) | BIT(SIGWINCH);
  return ebb_shares_group && info->si_code == SI_KERNEL && (BIT(number) & terminals);
}

static void receive(int number, siginfo_t *info, void *context) {
  if (is_own(number, info)) return hand_on(number, info, context);
  if ((ebb_inherited.ignored & BIT(number)) && !ebb_has_child) return;
  if (ebb_is_replaced) return receive_late(number);
  if (is_shared(number, info)) return;
  if (number == SIGCONT) __atomic_fetch_add(&continued, 1, __ATOMIC_SEQ_CST);
  note(number);
}

/* Handles a signal, and leaves errno as the interrupted code had it. */
static void handle(int number, siginfo_t *info, void *context) {
  int error = errno;
  receive(number, info, context);
  errno = error;
}

static int is_caught(const struct kernel_action *action) { return action->handler == (void (*)(int))(void *)handle; }

/*
 * Catches a signal by `handle`, unless that is done. All signals are blocked in the handler, so that they come one
 * after the other: of several that wait, the kernel delivers the lowest first. The runtime's own signals keep the flags
 * and mask of the runtime.
 */
void ebb_catch(int number) {
  struct kernel_action *own = &runtime[number], before;
  struct kernel_action action = {.flags = SA_ONSTACK, .mask = ~0ull};
  kernel_sigaction(number, NULL, &before);
  if (is_caught(&before)) return;
  *own = before;
  if (BIT(number) & RUNTIME_SIGNALS) action = *own;
  action.flags = (action.flags & ~SA_RESETHAND) | SA_SIGINFO | SA_RESTART | SA_RESTORER;
  action.handler = (void (*)(int))(void *)handle;
  action.restorer = ebb_restore;
  kernel_sigaction(number, &action, NULL);
}

/*
 * Catches the signals that are unblocked before JavaScript listens: musl unblocks 32 to 34 with the first thread that
 * it starts.
 */
void ebb_catch_early(void) {
  for (int number = 32; number <= 34; number++) ebb_catch(number);
}

static int has_terminal(void) {
  for (int standard = 0; standard <= 2; standard++)
    if (tcgetpgrp(standard) >= 0) return 1;
  return 0;
}

/*
 * Catches all signals that can be caught, but SIGCHLD, and unblocks what entry.c has blocked. At a terminal it ignores
 * SIGTTIN and SIGTTOU, so that they stop ebb neither when it logs from the background (stty tostop) nor when it gives
 * the terminal away.
 */
void ebb_listen(void) {
  const uint64_t terminal = BIT(SIGTTIN) | BIT(SIGTTOU);
  uint64_t kept = BIT(SIGKILL) | BIT(SIGSTOP) | BIT(SIGCHLD);
  if (has_terminal()) {
    kept |= terminal;
    signal(SIGTTIN, SIG_IGN);
    signal(SIGTTOU, SIG_IGN);
  }
  for (int number = 1; number <= LAST_SIGNAL; number++)
    if (!(kept & BIT(number))) ebb_catch(number);
  kernel_sigmask(SIG_SETMASK, &(uint64_t){0}, NULL);
}

/*
 * Blocks every signal, until ebb_exec. Of those that another thread takes meanwhile, the signals in `ends` (BIT) end
 * ebb.
 */
long ebb_hold_signals(uint64_t ends) {
  ending = ends;
  ebb_is_replaced = 1;
  return kernel_sigmask(SIG_SETMASK, &(uint64_t){~0ull}, NULL);
}

/* Takes the next noted signal, with IS_EARLY if it is. Returns 0 if there is none. */
static int next_noted(void) {
  unsigned at = __atomic_load_n(&read_count, __ATOMIC_SEQ_CST);
  if (at != __atomic_load_n(&written, __ATOMIC_SEQ_CST)) {
    int noted = __atomic_exchange_n(&ring[at % RING], 0, __ATOMIC_SEQ_CST);
    if (noted == 0) return 0; /* another thread is just writing it: its SIGCHLD comes after */
    if ((noted & 0xff) == SIGCONT) __atomic_fetch_sub(&continues, 1, __ATOMIC_SEQ_CST);
    __atomic_store_n(&read_count, at + 1, __ATOMIC_SEQ_CST);
    return noted;
  }
  uint64_t left = __atomic_load_n(&beyond, __ATOMIC_SEQ_CST);
  if (left == 0) return 0;
  int number = __builtin_ctzll(left) + 1;
  __atomic_fetch_and(&beyond, ~BIT(number), __ATOMIC_SEQ_CST);
  return number | early(number);
}

/* Takes the next noted signal, and returns its number with flags above it, or 0 if there is none. */
int ebb_next_signal(void) {
  int noted = next_noted(), number = noted & 0xff;
  return number != 0 && (ebb_inherited.ignored & BIT(number)) ? noted | WAS_IGNORED : noted;
}

/*
 * Stops ebb's process group as the terminal would, the other commands of a pipeline too, so that the shell sees a
 * stopped job. Returns 1 once it is continued, or 0 at once if there is no shell to continue it (the kernel then stops
 * no process).
 */
int ebb_stop(void) {
  struct kernel_action caught, stop = {.handler = SIG_DFL};
  unsigned before = continued;
  kernel_sigaction(SIGTSTP, &stop, &caught);
  kill(0, SIGTSTP);
  kernel_sigaction(SIGTSTP, &caught, NULL);
  return continued != before;
}

/*
 * Stops ebb itself until it gets SIGCONT, unless one has come that is not read yet. PID 1 cannot stop itself, and goes
 * on.
 */
void ebb_suspend(void) {
  if (__atomic_load_n(&beyond, __ATOMIC_SEQ_CST) & BIT(SIGCONT)) return;
  if (__atomic_load_n(&continues, __ATOMIC_SEQ_CST) == 0) kill(getpid(), SIGSTOP);
}

/*
 * Has the kernel send a signal when the parent dies. If it has died since ebb was started, when the kernel sends
 * nothing more, takes it now.
 */
void ebb_parent_death(int number) {
  ebb_parent_signal = number;
  prctl(PR_SET_PDEATHSIG, number);
  if (getppid() == ebb_inherited.parent) return;
  if (number == SIGKILL) kill(getpid(), number);
  else note(number);
}
