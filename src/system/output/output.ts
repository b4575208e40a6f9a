import { type Backlog, createBacklog, type Write } from "../../core/base/backlog.ts";
import { oneLine, printable } from "../../core/base/text.ts";
import { EXIT, Failure } from "../../core/run/exit.ts";
import { ERRNO, errorText } from "../native/errno.ts";
import { atExit } from "../native/exit.ts";
import { native } from "../native/native.ts";
import { deadline } from "../timer.ts";

const PIECE = 64 * 1024;
const LONGEST_PAUSE_MS = 32;
/** As many characters of stderr are kept for a reader that has stopped, as in a pipe. */
const ROOM = 64 * 1024;
const LONGEST_RETRY_MS = 1000;
/** A reader that is only slow still gets the last lines; one that has stopped does not hold up the end. */
const LAST_TRY_MS = 100;

/** Writes to stderr without blocking: the app may share it, and its reader may stop. A live line moves down. */
export function writeError(text: string): void {
  writePrintable(printable(text));
}

/** Writes to stderr as `writeError`, a text that is printable already: with colours. */
export function writePrintable(shown: string): void {
  const isDone = errors.add(live === "" ? shown : `${ERASE_LINE}${shown}${live}`);
  if (!isDone && !isRetrying) retryIn(1);
}

/** Sets the text that stands on stderr where lines were dropped; the log sets its own. */
export function describeLossBy(describe: (lines: number) => string): void {
  describeLoss = describe;
}

let describeLoss = (lines: number): string => `ebb: warning: ${lines} lines are missing here: stderr was full\n`;

const errors: Backlog = createBacklog(writerTo(2), { room: ROOM, describeLoss: (lines) => describeLoss(lines) });

/** Writes without waiting. Through native, because node:fs costs each start 0.9 ms (measured). */
export function writerTo(descriptor: number): Write {
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

/** Tries a last time to write what waits for stderr, before ebb ends or executes another program. */
export function finishErrors(): void {
  for (let ms = 0; ms < LAST_TRY_MS && !errors.flush(); ms++) Bun.sleepSync(1);
}

const ERASE_LINE = "\r\x1b[K";
let live = "";

/** Shows a line at the bottom of the terminal, in place of the former one; an empty one removes it. */
export function showLive(line: string): void {
  const width = process.stderr.columns || 80;
  if (line === "" && live === "") return; // what stands there is the app's
  const shown = oneLine(line);
  live = shown.length < width ? shown : `${shown.slice(0, width - 2)}…`;
  if (errors.flush()) native.write(2, `${ERASE_LINE}${live}`, 0);
}

/** Writes a control sequence to the terminal; drops it where the terminal takes nothing now. */
export function writeControl(sequence: string): void {
  native.write(1, sequence, 0);
}

/** Writes text to stdout, made printable. Resolves to false where nobody reads any more. */
export function writeOutput(text: string): Promise<boolean> {
  return writeStreamed(new TextEncoder().encode(printable(text)));
}

/**
 * Writes bytes to stdout or stderr as they are, without blocking, so that signals are seen while the reader takes its time.
 * Resolves to false where nobody reads any more. @throws Failure 71 where it cannot be written
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
      throw new Failure(EXIT.system, `cannot write to ${descriptor === 1 ? "stdout" : "stderr"}: ${errorText(error)}`);
    }
    at += Math.max(0, written);
    pauseMs = 1;
  }
  return true;
}
