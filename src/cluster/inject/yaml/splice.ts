/** A replacement: the text from one offset up to another (in UTF-16 code units) becomes `text`. */
export interface Splice {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/**
 * Returns the text after all replacements, whose offsets are those of the text before. Of two at one offset, the one
 * that comes first in the list comes first.
 * @throws Error if two overlap
 */
export function applySplices(text: string, splices: readonly Splice[]): string {
  const parts: string[] = [];
  let at = 0;
  for (const { from, to, text: piece } of inOrder(splices)) {
    if (from < at) throw new Error(`two changes of one piece of text, at ${from} and before ${at}`);
    parts.push(text.slice(at, from), piece);
    at = to;
  }
  return [...parts, text.slice(at)].join("");
}

/** Returns the splices in the order of the text. */
export function inOrder(splices: readonly Splice[]): readonly Splice[] {
  return splices.toSorted((a, b) => a.from - b.from || a.to - b.to);
}
