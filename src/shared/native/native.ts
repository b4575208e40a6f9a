import type { SignalNumber } from "../core/signal.ts";

/**
 * The functions of src/native/module.c: what JavaScript cannot do, or only at a cost that each start would pay. None of
 * them throws. One that returns a number returns -errno if it fails.
 */
export interface Native {
  /** access(2). */
  access(path: string, mode: number): number;
  /**
   * Binds an abstract Unix socket, whose name /proc/net/unix shows to all of this network namespace until ebb has ended.
   * Returns its descriptor, which the child does not get.
   */
  announce(name: string): number;
  /**
   * Tries connect(2), without waiting, at a loopback address (`127.0.0.1`, `::1`) or at the path of a Unix socket, and
   * closes the connection. Returns 0 if it is accepted; -ECONNREFUSED without a listener; -EINPROGRESS if packets are
   * dropped, mostly because the listener's queue is full (for a Unix socket -EAGAIN); -ENOTSUP for any other place, which
   * would not answer at once.
   */
  checkConnect(place: string, port: number): number;
  /**
   * Returns a number that tells ebb's container from all others that run on the node: the inode number of its mount
   * namespace. Container runtimes use it again when the container has ended.
   */
  container(): number;
  /**
   * Replaces this process. Returns only if that fails. The command line is ebb's own argv from `index` on; if `index`
   * is -1, and in development, when that argv is not known, it is `words`, which are separated by zero bytes.
   */
  exec(words: string, index: number): number;
  /** Ends ebb by _exit(2). */
  exit(code: number): never;
  /** Returns the foreground process group of a terminal (tcgetpgrp(3)). */
  foregroundGroup(terminal: number): number;
  /** Returns the process group of a process (getpgid(2)); 0 stands for ebb. */
  groupOf(pid: number): number;
  /** Blocks every signal, until `exec`. Those in `ends` (bit 0 is signal 1) end ebb if another thread takes them. */
  holdSignals(ends: number): void;
  /** Returns 1 if a descriptor is a terminal (isatty(3)). */
  isTerminal(descriptor: number): number;
  kill(pid: number, signal: SignalNumber): number;
  /** Makes the root folder ebb's working directory. */
  leaveFolder(): number;
  /** Catches every signal that can be forwarded, from now on. Each of them raises SIGCHLD. */
  listen(): void;
  /**
   * Returns the listening TCP sockets in lines as /proc/net/tcp and tcp6 have them; undefined if the kernel does not
   * tell.
   */
  listeners(): string | undefined;
  /**
   * Locks a folder or, if `isOwn` is 1, ebb's own record, which it makes, by flock(2), for ebb alone, without waiting.
   * Returns the descriptor that holds the lock, which the child does not get; -EAGAIN if another holds it.
   */
  lock(path: string, isOwn: number): number;
  /**
   * Takes the next signal that was caught. Returns its number, with flags (native.h) above it, or 0 if there is none.
   */
  nextSignal(): number;
  /** Opens a file to append to. Returns a descriptor that never waits for a reader. */
  openLog(path: string): number;
  /** Has the kernel send a signal to ebb when the thread that started ebb ends; at once if that has ended. */
  parentDeath(signal: SignalNumber): void;
  /**
   * Returns a regular file's text. Returns -EFBIG if it has more than `mostBytes`, -ENOTSUP for a pipe, socket or
   * device.
   */
  readFile(path: string, mostBytes: number): string | number;
  /**
   * Reads the first bytes of a record, and then tests its lock. Returns how many bytes there are, plus 0x10000 if
   * another holds the lock; -ENOTSUP if it is no regular file. If `own` is a descriptor (else -1), returns -EXDEV unless
   * the record is its file.
   */
  readRecord(path: string, into: Uint8Array, own: number): number;
  /**
   * Takes a child that has ended or stopped (waitpid(2)). Returns its PID and puts its wait status into `status`, or
   * returns 0 if there is none.
   */
  reap(status: Int32Array): number;
  /** Takes the executable's pages out of this process's memory; those that are needed come back one by one. */
  releasePages(): void;
  /** Makes a process group the foreground group of a terminal (tcsetpgrp(3)). */
  setForegroundGroup(terminal: number, group: number): number;
  /**
   * Starts a program with what ebb was started with, and returns its PID. Its command line is as in `exec`. ebb adopts
   * its orphans. If `leads` is 1 it has a process group of its own even in a pipeline. Fills `place`, of four elements
   * (`struct place` in native.h), with how the program stands to the terminal.
   */
  spawn(words: string, index: number, leads: number, place: Int32Array): number;
  /** Stops ebb's process group until the shell continues it. Returns 0 at once if there is no shell that could. */
  stop(): number;
  /** Stops ebb itself until SIGCONT, unless a SIGCONT has come that is not read yet. */
  suspend(): void;
  /** Closes a descriptor of `lock`, which ends the lock. */
  unlock(descriptor: number): number;
  /**
   * Writes a text as UTF-8, without its first `from` bytes. Returns how many bytes went at once, or -EAGAIN if it would
   * wait.
   */
  write(descriptor: number, text: string, from: number): number;
  /** Writes bytes. Returns how many went at once, or -EAGAIN if it would wait. */
  writeBytes(descriptor: number, bytes: Uint8Array): number;
  /** Writes the bytes of a record in place (pwrite(2)). Returns how many. */
  writeRecord(descriptor: number, bytes: Uint8Array): number;
}

/**
 * The module's path. In the static executable, into which it is linked, any path will do; in development the build has
 * made this file.
 */
const path = `${import.meta.dirname}/../../../dist/native.node`;

/** The module, loaded with this file. */
export const native: Native = open();

function open(): Native {
  const opened = { exports: {} as Native };
  process.dlopen(opened, path);
  return opened.exports;
}
