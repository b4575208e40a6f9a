import { dlopen, type Pointer, ptr, read } from "bun:ffi";

// The one native seam: libc, by bun:ffi. In development it is the host's libc; in the static executable dlopen finds the
// functions that build/glue.c lists, and only those.

const always = {
  __errno_location: { args: [], returns: "ptr" },
  _exit: { args: ["i32"], returns: "void" },
  close: { args: ["i32"], returns: "i32" },
  isatty: { args: ["i32"], returns: "i32" },
  kill: { args: ["i32", "i32"], returns: "i32" },
  open: { args: ["ptr", "i32", "i32"], returns: "i32" },
  read: { args: ["i32", "ptr", "u64"], returns: "i64" },
  waitpid: { args: ["i32", "ptr", "i32"], returns: "i32" },
  write: { args: ["i32", "ptr", "u64"], returns: "i64" },
} as const;

const sometimes = {
  access: { args: ["ptr", "i32"], returns: "i32" },
  connect: { args: ["i32", "ptr", "u32"], returns: "i32" },
  getsockopt: { args: ["i32", "i32", "i32", "ptr", "ptr"], returns: "i32" },
  poll: { args: ["ptr", "u64", "i32"], returns: "i32" },
  sigprocmask: { args: ["i32", "ptr", "ptr"], returns: "i32" },
  socket: { args: ["i32", "i32", "i32"], returns: "i32" },
} as const;

const ofTerminal = {
  getpgid: { args: ["i32"], returns: "i32" },
  tcgetpgrp: { args: ["i32"], returns: "i32" },
  tcsetpgrp: { args: ["i32", "i32"], returns: "i32" },
} as const;

/** What every start needs. */
export const libc = dlopen("libc.so.6", always).symbols;

let opened: ReturnType<typeof openMore> | undefined;

/** What few starts need: each function costs them 10 µs (measured). */
export function moreOfLibc(): ReturnType<typeof openMore> {
  opened ??= openMore();
  return opened;
}

function openMore() {
  return dlopen("libc.so.6", sometimes).symbols;
}

let openedTerminal: ReturnType<typeof openTerminal> | undefined;

/** What only a start at a terminal needs. */
export function libcOfTerminal(): ReturnType<typeof openTerminal> {
  openedTerminal ??= openTerminal();
  return openedTerminal;
}

function openTerminal() {
  return dlopen("libc.so.6", ofTerminal).symbols;
}

/** The errno of the last call. Read it before anything else runs. */
export function errno(): number {
  return read.i32(libc.__errno_location() as Pointer, 0);
}

/** errno values of Linux (asm-generic/errno-base.h, errno.h), the same on x86-64 and arm64. */
export const ERRNO = {
  ENOENT: 2,
  ESRCH: 3,
  EINTR: 4,
  ENOEXEC: 8,
  EAGAIN: 11,
  ENOMEM: 12,
  ENOTDIR: 20,
  ENFILE: 23,
  EMFILE: 24,
  EPIPE: 32,
  ECONNREFUSED: 111,
} as const;

const messages: Readonly<Record<number, string>> = {
  1: "operation not permitted",
  2: "no such file or directory",
  5: "input/output error",
  7: "argument list too long",
  8: "exec format error",
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
  36: "file name too long",
  40: "too many levels of symbolic links",
};

/** strerror(3) in short, for the errors that starting a command can meet. */
export function errorText(number: number): string {
  return messages[number] ?? `errno ${number}`;
}

/** A C string, and a NULL-terminated array of them. Keep the result in a variable while C reads it. */
export function cString(text: string): Uint8Array {
  return new TextEncoder().encode(`${text}\0`);
}

export interface CStrings {
  readonly address: Pointer;
  /** Keeps the memory alive. */
  readonly memory: readonly unknown[];
}

export function cStrings(texts: readonly string[]): CStrings {
  const strings = texts.map(cString);
  const array = new BigUint64Array([...strings.map((bytes) => BigInt(ptr(bytes))), 0n]);
  return { address: ptr(array), memory: [array, ...strings] };
}

/** A sigset_t (128 bytes, bit n-1 for signal n, in glibc and musl alike) of these bits. */
export function signalSet(bits: bigint): BigUint64Array {
  const set = new BigUint64Array(16);
  set[0] = bits;
  return set;
}

export { type Pointer, ptr, read };
