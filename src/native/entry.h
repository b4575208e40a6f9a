/*
 * Code that runs before libc's start. build/start/start.ts puts the section .start behind the program headers, in a
 * page that the kernel has just read: this code calls and reads nothing elsewhere in the executable, so that it waits
 * for no disk.
 */
#pragma once
#include "native.h"

#define START __attribute__((section(".start.text"), used))

/* Asks the kernel for the pages of the executable that a start touches, if they are not in memory (pages.c). */
void ebb_read_pages(void);

#if defined(__x86_64__)
__attribute__((always_inline)) static inline long call_kernel(long number, long a, long b, long c, long d) {
  register long r10 __asm__("r10") = d;
  long result;
  __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10) : "rcx", "r11", "memory");
  return result;
}
#elif defined(__aarch64__)
__attribute__((always_inline)) static inline long call_kernel(long number, long a, long b, long c, long d) {
  register long x8 __asm__("x8") = number, x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c, x3 __asm__("x3") = d;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
  return x0;
}
#endif
