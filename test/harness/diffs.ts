/** A text before and after a change. */
interface Change {
  readonly before: string;
  readonly after: string;
}

/** Returns the changes that a page of Markdown shows, each in a block with `diff`. */
export function changesIn(markdown: string): readonly Change[] {
  return [...markdown.matchAll(/^```diff\n([\s\S]*?)^```$/gm)].map(([, diff = ""]) => {
    const lines = diff.trimEnd().split("\n");
    const without = (sign: string) =>
      lines
        .filter((line) => !line.startsWith(sign))
        .map((line) => `${line.slice(1)}\n`)
        .join("");
    return { before: without("+"), after: without("-") };
  });
}
