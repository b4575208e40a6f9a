import { errorText } from "../core/system-error.ts";

/** errno values of Linux (asm-generic/errno-base.h, errno.h), the same on x86-64 and arm64. */
export const ERRNO = {
  EPERM: 1,
  ENOENT: 2,
  ESRCH: 3,
  EINTR: 4,
  EIO: 5,
  E2BIG: 7,
  ENOEXEC: 8,
  EAGAIN: 11,
  ENOMEM: 12,
  EACCES: 13,
  EXDEV: 18,
  ENOTDIR: 20,
  EISDIR: 21,
  ENFILE: 23,
  EMFILE: 24,
  ETXTBSY: 26,
  EFBIG: 27,
  ENOSPC: 28,
  EROFS: 30,
  EPIPE: 32,
  ENAMETOOLONG: 36,
  ELOOP: 40,
  ELIBBAD: 80,
  ENOTSUP: 95,
  EAFNOSUPPORT: 97,
  EADDRNOTAVAIL: 99,
  ENETDOWN: 100,
  ENETUNREACH: 101,
  ECONNREFUSED: 111,
  EHOSTUNREACH: 113,
  EINPROGRESS: 115,
} as const;

/** Returns what an errno value means, in a few words; `errno N` if it has no words. */
export function errnoText(number: number): string {
  const found = Object.entries(ERRNO).find(([, value]) => value === number);
  return errorText(found?.[0]) ?? `errno ${number}`;
}
