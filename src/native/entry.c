/*
 * The entry point, where the kernel starts ebb. Its first call blocks all signals, before libc's own start, and notes
 * those that were blocked. A signal that comes earlier still finds the program that exec replaced. The signals of
 * faults are blocked too, because others can send them: a fault while its signal is blocked ends ebb as it would anyway
 * (kernel: force_sig).
 */
#include "entry.h"

uint64_t ebb_blocked_at_start;
pid_t ebb_parent_at_start;

/*
 * Blocks the signals, asks for pages, and only then notes what it found, because that writes to a page that may have to
 * be read.
 */
START static void begin(void) {
  uint64_t held = ~0ull, blocked = 0;
  call_kernel(SYS_rt_sigprocmask, SIG_SETMASK, (long)&held, (long)&blocked, sizeof held);
  pid_t parent = (pid_t)call_kernel(SYS_getppid, 0, 0, 0, 0);
  ebb_read_pages();
  ebb_blocked_at_start = blocked;
  ebb_parent_at_start = parent;
}

/*
 * Calls `begin` and jumps to the executable's own entry, with the stack as it was, and registers as the kernel sets
 * them: 0.
 */
__asm__(
    ".pushsection .start.entry,\"ax\",%progbits\n.globl ebb_entry\n.type ebb_entry, %function\nebb_entry:\n"
#ifdef __x86_64__
    "xor %ebp, %ebp\ncall begin\n"
    "xor %eax, %eax\nxor %edi, %edi\nxor %esi, %esi\nxor %edx, %edx\nxor %ecx, %ecx\n"
    "xor %r8d, %r8d\nxor %r9d, %r9d\nxor %r10d, %r10d\nxor %r11d, %r11d\njmp ebb_image_entry\n"
#else
    "mov x29, 0\nmov x30, 0\nbl begin\n"
    "mov x0, 0\nmov x1, 0\nmov x2, 0\nmov x3, 0\nmov x8, 0\nmov x30, 0\nb ebb_image_entry\n"
#endif
    ".popsection\n");
