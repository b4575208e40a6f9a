/*
 * The entry point, where the kernel starts ebb. Its first call blocks all signals, before libc's own start, and notes
 * those that were blocked. A signal that comes earlier still finds the program that exec replaced. The signals of
 * faults are blocked too, because others can send them: a fault while its signal is blocked ends ebb as it would anyway
 * (kernel: force_sig).
 */
#include "native.h"

uint64_t ebb_blocked_at_start;
pid_t ebb_parent_at_start;

/* Makes a system call with up to four arguments; libc's syscall() may write errno, which is not there yet. */
#if defined(__x86_64__)
static long call_kernel(long number, long a, long b, long c, long d) {
  register long r10 __asm__("r10") = d;
  long result;
  __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10) : "rcx", "r11", "memory");
  return result;
}
#elif defined(__aarch64__)
static long call_kernel(long number, long a, long b, long c, long d) {
  register long x8 __asm__("x8") = number, x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c, x3 __asm__("x3") = d;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
  return x0;
}
#endif

__attribute__((used)) static void begin(void) {
  uint64_t held = ~0ull;
  call_kernel(SYS_rt_sigprocmask, SIG_SETMASK, (long)&held, (long)&ebb_blocked_at_start, sizeof held);
  ebb_parent_at_start = (pid_t)call_kernel(SYS_getppid, 0, 0, 0, 0);
}

/*
 * Calls `begin` and jumps to the executable's own entry, with the stack as it was, and registers as the kernel sets
 * them: 0.
 */
__asm__(
    ".text\n.globl ebb_entry\n.type ebb_entry, %function\nebb_entry:\n"
#ifdef __x86_64__
    "xor %ebp, %ebp\ncall begin\n"
    "xor %eax, %eax\nxor %edi, %edi\nxor %esi, %esi\nxor %edx, %edx\nxor %ecx, %ecx\n"
    "xor %r8d, %r8d\nxor %r9d, %r9d\nxor %r10d, %r10d\nxor %r11d, %r11d\njmp ebb_image_entry\n"
#else
    "mov x29, 0\nmov x30, 0\nbl begin\n"
    "mov x0, 0\nmov x1, 0\nmov x2, 0\nmov x3, 0\nmov x8, 0\nmov x30, 0\nb ebb_image_entry\n"
#endif
);
