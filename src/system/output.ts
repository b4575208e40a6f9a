import { EXIT, Failure } from "../core/exit.ts";
import { ERRNO, errorText } from "./errno.ts";
import { native } from "./native.ts";

/** A pipe that poll(2) calls writable takes this much at once (pipe(7), PIPE_BUF). */
const PIPE_BUF = 4096;
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

/** All of it, now. Through native, because node:fs costs each start 0.9 ms (measured). */
function writeAll(descriptor: number, text: string): void {
  for (let at = 0; ; ) {
    const written = native.write(descriptor, text, at);
    if (written === 0) return;
    if (written > 0) at += written;
    else if (written === -ERRNO.EAGAIN) Bun.sleepSync(1);
    else if (written !== -ERRNO.EINTR) return; // nobody reads any more (EPIPE, EBADF): there is nowhere left to say so
  }
}

/**
 * Writes all of it to stdout, never blocking, so that signals are heard while the reader takes its time. False where nobody
 * reads any more. @throws Failure 71 where it cannot be written
 */
export async function writeStreamed(bytes: Uint8Array): Promise<boolean> {
  let pauseMs = 1;
  for (let at = 0; at < bytes.length; ) {
    if (native.canWrite(1) === 0) {
      await Bun.sleep(pauseMs);
      pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
      continue;
    }
    const piece = bytes.subarray(at, at + PIPE_BUF);
    const written = native.writeBytes(1, piece);
    const error = -Math.min(0, written);
    if (error === ERRNO.EPIPE) return false;
    if (error !== 0 && error !== ERRNO.EAGAIN && error !== ERRNO.EINTR) {
      throw new Failure(EXIT.system, `stdout: ${errorText(error)}`);
    }
    at += Math.max(0, written);
    pauseMs = 1;
  }
  return true;
}
