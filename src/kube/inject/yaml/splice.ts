/** A piece of a text, and what stands there instead. */
export interface Splice {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/** Applies splices to a text. Of two at one place, the one noted first comes first. */
export function applySplices(text: string, splices: readonly Splice[]): string {
  const parts: string[] = [];
  let at = 0;
  for (const { from, to, text: piece } of splices.toSorted((a, b) => a.from - b.from || a.to - b.to)) {
    if (from < at) throw new Error(`two changes of one piece of text, at ${from} and before ${at}`);
    parts.push(text.slice(at, from), piece);
    at = to;
  }
  return [...parts, text.slice(at)].join("");
}
