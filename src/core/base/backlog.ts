/** Writes a text but for its first bytes, without waiting: how many bytes went; `full` where the reader has stopped. */
export type Write = (text: string, from: number) => number | "full" | "failed";

/** Lines on their way to a reader that may stop reading. Some are kept until it goes on, what is more is dropped and counted. */
export interface Backlog {
  /** As `flush`, with a text more. */
  add(text: string): boolean;
  /** Writes what goes now. False where some is left, and may go later. */
  flush(): boolean;
}

export interface BacklogLimits {
  /** As many characters are kept. */
  readonly room: number;
  /** What stands in the place of so many lines that were dropped. */
  readonly describeLoss: (lines: number) => string;
}

interface Entry {
  readonly text: string;
  /** As many lines are lost with it. */
  readonly lines: number;
}

/**
 * Creates a queue of lines for a writer that may block. Beyond `room` it drops what waits, and `describeLoss` says how many lines.
 */
export function createBacklog(write: Write, { room, describeLoss }: BacklogLimits): Backlog {
  let kept: Entry[] = [];
  let size = 0;
  let written = 0; // bytes of the first
  let lost = 0;
  let isTorn = false; // the last line that went has no end
  const keep = (text: string, lines: number): void => {
    kept.push({ text, lines });
    size += text.length;
  };
  const drop = (): void => {
    for (const { lines } of kept) lost += lines;
    isTorn ||= written > 0;
    kept = [];
    size = 0;
    written = 0;
  };
  const flush = (): boolean => {
    for (;;) {
      if (kept.length === 0 && lost > 0) {
        keep(`${isTorn ? "\n" : ""}${describeLoss(lost)}`, lost);
        lost = 0;
      }
      const first = kept[0];
      if (first === undefined) return true;
      const count = write(first.text, written);
      if (count === "full") return false;
      if (count === "failed") {
        drop();
        return true; // to wait for nothing
      }
      written += count;
      if (count > 0) continue;
      kept.shift();
      size -= first.text.length;
      written = 0;
      isTorn = false;
    }
  };
  const add = (text: string): boolean => {
    if (kept.length > 0 || lost > 0) flush();
    if (lost > 0 || (kept.length > 0 && size + text.length > room)) {
      lost += linesIn(text);
      return kept.length === 0;
    }
    keep(text, linesIn(text));
    return flush();
  };
  return { add, flush };
}

function linesIn(text: string): number {
  let lines = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines += 1;
  return lines;
}
