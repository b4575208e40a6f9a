import { EXIT, Failure } from "../core/exit.ts";
import { ERRNO, errno, errorText, libc, moreOfLibc, ptr } from "./libc.ts";

/** A pipe that poll(2) calls writable takes this much at once (pipe(7), PIPE_BUF). */
const PIPE_BUF = 4096;
const POLLOUT = 4;
const LONGEST_PAUSE_MS = 32;

export function writeOutput(text: string): void {
  writeAll(1, text);
}

/** To stderr; a live line there makes room. */
export function writeError(text: string): void {
  if (live === "") return writeAll(2, text);
  writeAll(2, `${ERASE_LINE}${text}${live}`);
}

const ERASE_LINE = "\r\x1b[K";
let live = "";

/** Shows a line at the bottom of the terminal at stderr, in place of the one before; an empty one takes it away. */
export function showLive(line: string): void {
  const width = process.stderr.columns || 80;
  live = line.length < width ? line : `${line.slice(0, width - 2)}…`;
  writeAll(2, `${ERASE_LINE}${live}`);
}

/** All of it, now. Through libc, because node:fs costs each start 0.9 ms (measured). */
function writeAll(descriptor: number, text: string): void {
  let bytes = new TextEncoder().encode(text);
  while (bytes.length > 0) {
    const written = Number(libc.write(descriptor, ptr(bytes), BigInt(bytes.length)));
    if (written >= 0) bytes = bytes.subarray(written);
    else if (errno() === ERRNO.EAGAIN) Bun.sleepSync(1);
    else if (errno() !== ERRNO.EINTR) return; // nobody reads any more (EPIPE, EBADF): there is nowhere left to say so
  }
}

/**
 * Writes all of it to stdout, never blocking, so that signals are heard while the reader takes its time. False where nobody
 * reads any more. @throws Failure 71 where it cannot be written
 */
export async function writeStreamed(bytes: Uint8Array): Promise<boolean> {
  let pauseMs = 1;
  for (let at = 0; at < bytes.length; ) {
    if (!canWrite()) {
      await Bun.sleep(pauseMs);
      pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
      continue;
    }
    const piece = bytes.subarray(at, at + PIPE_BUF);
    const written = Number(libc.write(1, ptr(piece), BigInt(piece.length)));
    const error = written < 0 ? errno() : 0;
    if (error === ERRNO.EPIPE) return false;
    if (error !== 0 && error !== ERRNO.EAGAIN && error !== ERRNO.EINTR) {
      throw new Failure(EXIT.system, `stdout: ${errorText(error)}`);
    }
    at += Math.max(0, written);
    pauseMs = 1;
  }
  return true;
}

/** Whether a write would not block; true also where it would fail: the write then says why. */
function canWrite(): boolean {
  const request = new Int32Array([1, POLLOUT]); // struct pollfd: fd, events and revents in one word
  return moreOfLibc().poll(ptr(request), 1n, 0) !== 0;
}
