/** errno values of Linux (asm-generic/errno-base.h, errno.h), the same on x86-64 and arm64. */
export const ERRNO = {
  EPERM: 1,
  ENOENT: 2,
  ESRCH: 3,
  EINTR: 4,
  ENOEXEC: 8,
  EAGAIN: 11,
  ENOMEM: 12,
  EACCES: 13,
  EXDEV: 18,
  ENOTDIR: 20,
  ENFILE: 23,
  EMFILE: 24,
  EFBIG: 27,
  EPIPE: 32,
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

const messages: Readonly<Record<number, string>> = {
  1: "operation not permitted",
  2: "no such file or directory",
  5: "input/output error",
  7: "argument list too long",
  8: "exec format error: the file is damaged, or no program",
  11: "resource temporarily unavailable",
  12: "out of memory",
  13: "permission denied",
  20: "not a directory",
  21: "is a directory",
  23: "too many open files in system",
  24: "too many open files",
  26: "text file busy",
  27: "file too large",
  28: "no space left on device",
  30: "read-only file system",
  36: "file name too long",
  40: "too many levels of symbolic links",
  80: "accessing a corrupted shared library",
};

/**
 * Returns a short text, as strerror(3) does, for an error that starting a command can have; `errno N` for any other.
 */
export function errorText(number: number): string {
  return messages[number] ?? `errno ${number}`;
}
