import { accessSync, readFileSync, statSync, writeSync } from "node:fs";
import { isatty } from "node:tty";
import { SIG, type SignalNumber, signalName } from "../shared/core/signal.ts";
import { ERRNO } from "../shared/native/errno.ts";
import type { Native } from "../shared/native/native.ts";

/** The signals that have come, and that nobody has read yet. */
const caught: SignalNumber[] = [];

/** The functions that a command at a desk calls. They do what those of module.c do, but a write waits for its reader. */
const functions = {
  access: (path, mode) =>
    orErrno(() => {
      accessSync(path, mode);
      return 0;
    }),
  exit: (code) => process.reallyExit(code),
  isTerminal: (descriptor) => Number(isatty(descriptor)),
  kill: (pid, signal) =>
    orErrno(() => {
      process.kill(pid, signalName(signal) as NodeJS.Signals);
      return 0;
    }),
  listen() {
    // not SIGHUP, whose default ends ebb, too: nohup has it ignored
    for (const signal of [SIG.INT, SIG.QUIT, SIG.TERM]) {
      process.on(signalName(signal), () => {
        caught.push(signal);
        process.emit("SIGCHLD", "SIGCHLD");
      });
    }
  },
  nextSignal: () => caught.shift() ?? 0,
  readFile: (path, mostBytes) =>
    orErrno(() => {
      const status = statSync(path);
      if (status.isDirectory()) return -ERRNO.EISDIR;
      if (!status.isFile()) return -ERRNO.ENOTSUP;
      if (status.size > mostBytes) return -ERRNO.EFBIG;
      const bytes = readFileSync(path); // the size of a file of /proc is 0
      return bytes.length > mostBytes ? -ERRNO.EFBIG : bytes.toString();
    }),
  write: (descriptor, text, from) => writeBytes(descriptor, Buffer.from(text).subarray(from)),
  writeBytes,
} satisfies Partial<Native>;

/** Stands in a desk build in the place of native.ts (build/bundle/desk.ts). What only pods call is missing. */
export const native = functions as Partial<Native> as Native;

function writeBytes(descriptor: number, bytes: Uint8Array): number {
  return orErrno(() => writeSync(descriptor, bytes));
}

/**
 * Calls it, and returns minus errno if it throws. The numbers are those of Linux on every system; that of an error
 * without one here is EIO's.
 */
function orErrno<Result>(call: () => Result): Result | number {
  try {
    return call();
  } catch (error) {
    const numbers: Readonly<Record<string, number>> = ERRNO;
    return -(numbers[(error as NodeJS.ErrnoException).code ?? ""] ?? ERRNO.EIO);
  }
}
