/*
 * Where the kernel starts ebb: its first call holds all signals, before libc's own start, and notes those that were blocked. A
 * signal that comes earlier still finds the program that exec replaced.
 */
#include "native.h"

const uint64_t ebb_held = ~FAULTS;
uint64_t ebb_blocked_at_start;

/* rt_sigprocmask(SIG_SETMASK, &ebb_held, &ebb_blocked_at_start, 8), and on to the executable's own entry with registers as they were: 0. */
__asm__(
    ".text\n.globl ebb_entry\n.type ebb_entry, %function\nebb_entry:\n"
#ifdef __x86_64__
    "mov $14, %eax\nmov $2, %edi\nlea ebb_held(%rip), %rsi\nlea ebb_blocked_at_start(%rip), %rdx\nmov $8, %r10d\nsyscall\n"
    "xor %eax, %eax\nxor %edi, %edi\nxor %esi, %esi\nxor %edx, %edx\nxor %r10d, %r10d\njmp ebb_image_entry\n"
#else
    "mov x8, 135\nmov x0, 2\nadrp x1, ebb_held\nadd x1, x1, :lo12:ebb_held\n"
    "adrp x2, ebb_blocked_at_start\nadd x2, x2, :lo12:ebb_blocked_at_start\nmov x3, 8\nsvc 0\n"
    "mov x0, 0\nmov x1, 0\nmov x2, 0\nmov x3, 0\nmov x8, 0\nb ebb_image_entry\n"
#endif
);
