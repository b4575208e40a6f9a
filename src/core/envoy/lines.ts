/** Splits text that comes in pieces into whole lines. */
export interface LineReader {
  /** Takes the next piece of the text. */
  take(piece: string): void;
  /** Takes the end of the text: what is left is a line too, even without a newline. */
  end(): void;
}

/** How many characters are kept of a line whose end has not come. No line that is counted is longer. */
export const LONGEST_LINE = 64 * 1024;

/**
 * Creates a reader that calls `onLines` with one or more whole lines at a time, newlines included. It drops a line of
 * which more than `LONGEST_LINE` characters have come without its end.
 */
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
