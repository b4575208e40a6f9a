import { linesIn } from "./text.ts";

/**
 * Writes what follows the first `from` bytes of a text, without blocking. Returns the number of bytes written (0 if
 * none is left), `full` if the reader takes nothing now, or `failed` if writing failed for good.
 */
export type Write = (text: string, from: number) => number | "full" | "failed";

/**
 * A queue of lines for a reader that may stop reading. It keeps a bounded number of characters, and counts the lines it
 * drops.
 */
export interface Backlog {
  /** Queues whole lines, or drops them if there is no room, then writes as `flush` does, with the same result. */
  add(text: string): boolean;
  /** Writes as much as the reader takes now. Returns false if some of it is left: then call `flush` again later. */
  flush(): boolean;
}

interface BacklogLimits {
  /** The most characters that wait; one text alone may be longer. */
  readonly room: number;
  /** Returns the line to write in place of the lines that were dropped, given their number. */
  readonly describeLoss: (lines: number) => string;
}

interface Entry {
  readonly text: string;
  /** How many lines are lost if it is dropped. */
  readonly lines: number;
}

/**
 * Creates a queue of lines in front of `write`. If more than `room` characters would wait, it drops new lines until the
 * queue has drained, and then writes what `describeLoss` says. If `write` fails, it drops all that waits.
 */
export function createBacklog(write: Write, { room, describeLoss }: BacklogLimits): Backlog {
  let kept: Entry[] = [];
  let size = 0;
  let written = 0; // bytes of the first entry
  let lost = 0; // lines
  let isTorn = false; // the last line written lacks its end
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
        return true; // there is nothing to wait for
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
