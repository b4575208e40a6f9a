import { type Backlog, createBacklog, type Write } from "../core/backlog.ts";
import { EXIT, Failure } from "../core/exit.ts";
import { oneLine, printable } from "../core/text.ts";
import { deadline } from "../io/timer.ts";
import { ERRNO, errnoText } from "../native/errno.ts";
import { atExit } from "../native/exit.ts";
import { native } from "../native/native.ts";

const PIECE = 64 * 1024;
const LONGEST_PAUSE_MS = 32;
/** The most characters that are kept for a reader of stderr that has stopped; a pipe holds as many bytes. */
const ROOM = 64 * 1024;
const LONGEST_RETRY_MS = 1000;
/**
 * How long the last try takes: a reader that is only slow still gets the last lines; one that has stopped does not hold
 * up the end.
 */
const LAST_TRY_MS = 100;

/**
 * Writes text to stderr, with control characters escaped, and never blocks: the app may share stderr, and its reader
 * may stop. Keeps up to 64 Ki characters (`ROOM`) for later tries; beyond that it drops what it has kept, and a line
 * says how many lines are missing. A live line moves down.
 */
export function writeError(text: string): void {
  writePrintable(printable(text));
}

/** Writes to stderr as `writeError` does, without escaping: a text that is printable already, and has colours. */
export function writePrintable(shown: string): void {
  const isDone = errors.add(live === "" ? shown : `${ERASE_LINE}${shown}${live}`);
  if (!isDone && !isRetrying) retryIn(1);
}

/**
 * Sets the function whose text stands on stderr in the place of dropped lines, which are counted. The log sets its own.
 */
export function describeLossBy(describe: (lines: number) => string): void {
  describeLoss = describe;
}

let describeLoss = (lines: number): string => `ebb: warning: ${lines} lines are missing here: stderr was full\n`;

const errors: Backlog = createBacklog(writerTo(2), { room: ROOM, describeLoss: (lines) => describeLoss(lines) });

/** Returns a writer to a descriptor that never waits for a reader. */
export function writerTo(descriptor: number): Write {
  // through native, because node:fs costs each start 0.9 ms (measured)
  return (text, from) => {
    for (;;) {
      const written = native.write(descriptor, text, from);
      if (written >= 0) return written;
      if (written === -ERRNO.EAGAIN) return "full";
      if (written !== -ERRNO.EINTR) return "failed";
    }
  };
}

let isRetrying = false;
let endsWithErrors = false;

function retryIn(ms: number): void {
  isRetrying = true;
  if (!endsWithErrors) atExit(finishErrors);
  endsWithErrors = true;
  deadline(ms, () => {
    isRetrying = false;
    if (!errors.flush()) retryIn(Math.min(2 * ms, LONGEST_RETRY_MS));
  });
}

/**
 * Writes what still waits for stderr, before ebb exits or becomes another program. Blocks for about 100 ms
 * (`LAST_TRY_MS`) at most.
 */
export function finishErrors(): void {
  for (let ms = 0; ms < LAST_TRY_MS && !errors.flush(); ms++) Bun.sleepSync(1);
}

const ERASE_LINE = "\r\x1b[K";
let live = "";

/**
 * Shows a line on stderr, which must be a terminal, in the place of the former live line; an empty one removes that.
 * Cuts the line to the terminal's width.
 */
export function showLive(line: string): void {
  const width = process.stderr.columns || 80;
  if (line === "" && live === "") return; // what is shown there is the app's
  const shown = oneLine(line);
  live = shown.length < width ? shown : `${shown.slice(0, width - 2)}…`;
  if (errors.flush()) native.write(2, `${ERASE_LINE}${live}`, 0);
}

/** Writes a control sequence to stdout, or drops it if stdout takes nothing now. */
export function writeControl(sequence: string): void {
  native.write(1, sequence, 0);
}

/** Writes text to stdout, with control characters escaped. Settles as `writeStreamed` does. */
export function writeOutput(text: string): Promise<boolean> {
  return writeStreamed(new TextEncoder().encode(printable(text)));
}

/**
 * Writes bytes to stdout or stderr as they are, without blocking, so that signals are seen while the reader is slow.
 * Resolves with true once all is written, with false if the reader has closed it. Rejects with Failure(71) if they cannot
 * be written.
 */
export async function writeStreamed(bytes: Uint8Array, descriptor: 1 | 2 = 1): Promise<boolean> {
  let pauseMs = 1;
  for (let at = 0; at < bytes.length; ) {
    const written = native.writeBytes(descriptor, bytes.subarray(at, at + PIECE));
    const error = -Math.min(0, written);
    if (error === ERRNO.EPIPE) return false;
    if (error === ERRNO.EAGAIN) {
      await Bun.sleep(pauseMs);
      pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
      continue;
    }
    if (error !== 0 && error !== ERRNO.EINTR) {
      throw new Failure(EXIT.system, `cannot write to ${descriptor === 1 ? "stdout" : "stderr"}: ${errnoText(error)}`);
    }
    at += Math.max(0, written);
    pauseMs = 1;
  }
  return true;
}
