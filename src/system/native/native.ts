import type { SignalNumber } from "../../core/run/signal.ts";

/**
 * src/native/module.c: what JavaScript cannot do, or only at a cost that each start would pay. A number is -errno where the
 * call fails.
 */
export interface Native {
  /** access(2). */
  access(path: string, mode: number): number;
  /** A connection over which a request was sent, to a place as `checkConnect` has it: its descriptor. */
  ask(place: string, port: number, request: string): number;
  /**
   * What connect(2) without waiting says of a loopback address (`127.0.0.1`, `::1`) or of the path of a unix socket: 0, or why
   * not. -EINPROGRESS, on a unix socket -EAGAIN: somebody listens, but accepts nothing, and has its queue full. -EADDRNOTAVAIL:
   * it is elsewhere, where nobody answers at once.
   */
  checkConnect(place: string, port: number): number;
  close(descriptor: number): number;
  /**
   * Replaces this process; returns only where it cannot. The command line is ebb's own argv from `index` on; with -1, and in
   * development, where that is not known, it is `words`, with a zero between them.
   */
  exec(words: string, index: number): number;
  exit(code: number): never;
  /** tcgetpgrp(3). */
  foregroundGroup(terminal: number): number;
  /** getpgid(2): the process group of a process; 0 is ebb. */
  groupOf(pid: number): number;
  /** Blocks every signal. */
  holdSignals(): void;
  /** isatty(3): 1 for yes. */
  isTerminal(descriptor: number): number;
  kill(pid: number, signal: SignalNumber): number;
  /** Makes the root folder ebb's working directory. */
  leaveFolder(): number;
  /** Catches every signal that can be forwarded; each then raises SIGCHLD. */
  listen(): void;
  /** The TCP sockets that listen, in lines as /proc/net/tcp and tcp6 have them; undefined where the kernel does not tell. */
  listeners(): string | undefined;
  /** The next signal that was caught, with flags (native.h) above its number; 0 when there is none. */
  nextSignal(): number;
  /** A descriptor to append with, which never waits for a reader. */
  openLog(path: string): number;
  /** Has the kernel send this signal to ebb when the thread that started ebb ends; at once where it has. */
  parentDeath(signal: SignalNumber): void;
  /** The text of a regular file. -EFBIG where it has more bytes, -ENOTSUP where it is a pipe, a socket or a device. */
  readFile(path: string, mostBytes: number): string | number;
  /** waitpid(2) for any child that has ended or stopped: its pid, and its wait status in the one element; 0 where there is none. */
  reap(status: Int32Array): number;
  /** Bytes that come within so many milliseconds, as latin1: empty where no more will come; undefined where none came yet. */
  receive(descriptor: number, withinMs: number): string | undefined;
  /** tcsetpgrp(3). */
  setForegroundGroup(terminal: number, group: number): number;
  /** Ends the advice that the kernel was given for a cold start (pages.c): what follows reads the executable as usual. */
  settle(): void;
  /**
   * Starts a program with what ebb was started with: its pid. The command line is as in `exec`. ebb gets its orphans. `place`
   * (four elements, native.h has their meaning) says how it stands to the terminal; with `leads` (1) it has a process group of
   * its own even in a pipeline.
   */
  spawn(words: string, index: number, leads: number, place: Int32Array): number;
  /** Stops ebb's process group until the shell continues it; 0 where there is no shell that could. */
  stop(): number;
  /** Stops ebb itself until SIGCONT, unless one has come that is not read yet. */
  suspend(): void;
  /**
   * Asks the same again and again, in a thread of its own, of places as `checkConnect` has them, with a zero between them: the
   * next where one refuses. Without an answer (latin1) all are to refuse. `numbers`: the port, the period in microseconds, 1 where
   * the connection is kept. Raises SIGCHLD when something else is heard. Returns a number for the two others.
   */
  watchStart(places: string, request: string, answer: Uint8Array, numbers: Int32Array): number;
  /** 1 once something else was heard. */
  watchHasChanged(watch: number): number;
  /** Once for each, also where something else was heard. */
  watchStop(watch: number): void;
  /** write(2) of a text as UTF-8, but for its first bytes: how many went at once; 0: there was nothing more; -EAGAIN: it would wait. */
  write(descriptor: number, text: string, from: number): number;
  /** write(2): how many bytes went at once; -EAGAIN: it would wait. */
  writeBytes(descriptor: number, bytes: Uint8Array): number;
}

/** In the static executable the module is linked in, under any path; in development the build has made this file. */
const path = `${import.meta.dirname}/../../../dist/native.node`;

export const native: Native = open();

function open(): Native {
  const opened = { exports: {} as Native };
  process.dlopen(opened, path);
  return opened.exports;
}
