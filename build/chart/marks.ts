// What stands in an object in the place of a value that only Helm knows: a text, or the key of an entry.

/** Each item of a list of the values: the list item or the manifest that has it is printed for each of them. */
export function each(expression: string): string {
  return `⟦each ${expression}⟧`;
}

/** A value that is printed as YAML; or, as a key, entries. Nothing is printed if it is empty. */
export function yaml(expression: string): string {
  return `⟦yaml ${expression}⟧`;
}

/** As the key of the first entry: entries in place of all others, unless the value is empty. */
export function instead(expression: string): string {
  return `⟦instead ${expression}⟧`;
}

/** A text. Nothing is printed, not even its key, if it is empty. */
export function given(expression: string): string {
  return `⟦given ${expression}⟧`;
}

/** An expression of Helm whose value is no text. */
export function plain(expression: string): string {
  return `⟦plain ${expression}⟧`;
}

/** The arguments that an option becomes. */
export function args(option: string): string {
  return `⟦args ${option}⟧`;
}

/** What a text has that is a mark. */
export interface Mark {
  readonly kind: "each" | "yaml" | "instead" | "given" | "plain" | "args";
  readonly expression: string;
}

/** Returns the mark in a text; undefined if it has none. */
export function markIn(text: unknown): Mark | undefined {
  const [, kind, expression = ""] = /⟦(\w+) ([^⟧]*)⟧/.exec(String(text)) ?? [];
  return kind === undefined ? undefined : { kind: kind as Mark["kind"], expression };
}
