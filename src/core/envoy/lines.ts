/** Hands on the whole lines of a text that comes in pieces, some at a time. */
export interface LineReader {
  take(piece: string): void;
  /** What is left is a line, too. */
  end(): void;
}

/** A line that is longer is none that is counted: it is left out, so that no more than this is kept. */
export const LONGEST_LINE = 64 * 1024;

/** Creates a splitter of text that comes in pieces: `onLines` is called with whole lines. A line that is too long is left out. */
export function createLineReader(onLines: (lines: string) => void): LineReader {
  let begun = "";
  let isTooLong = false;
  return {
    take(piece) {
      const start = isTooLong ? piece.indexOf("\n") + 1 : 0;
      const end = piece.lastIndexOf("\n") + 1;
      if (end > 0) {
        isTooLong = false;
        if (end > start) onLines(begun + piece.slice(start, end));
        begun = "";
      }
      if (isTooLong) return;
      begun += piece.slice(end);
      isTooLong = begun.length > LONGEST_LINE;
      if (isTooLong) begun = "";
    },
    end() {
      if (begun !== "") onLines(begun);
      begun = "";
    },
  };
}
