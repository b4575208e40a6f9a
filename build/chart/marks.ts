// What stands in an object in the place of a value that only Helm knows: a text, or the key of an entry.

/** Each item of a list of the values: the list item or the manifest that has it is printed for each of them. */
export const each = marker("each");

/** A value that is printed as YAML; or, as a key, entries. Nothing is printed if it is empty. */
export const yaml = marker("yaml");

/** As the key of the first entry: entries in place of all others, unless the value is empty. */
export const instead = marker("instead");

/** A text. Nothing is printed, not even its key, if it is empty. */
export const given = marker("given");

/** An expression of Helm whose value is no text. */
export const plain = marker("plain");

/** The arguments that an option becomes. */
export const args = marker("args");

function marker(kind: Mark["kind"]): (expression: string) => string {
  return (expression) => `⟦${kind} ${expression}⟧`;
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
