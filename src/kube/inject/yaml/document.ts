import type { Node, Pair } from "yaml";
import { NotYaml } from "./nodes.ts";
import { parseNodes } from "./parse.ts";
import { readValues, type Values } from "./values.ts";

/** A document's text and its nodes. JSON is YAML too. */
export interface YamlDocument extends Values {
  readonly text: string;
  /** Null: nothing but comments. */
  readonly root: Node | null;
  readonly value: unknown;
}

/**
 * Nothing is resolved by the parser, because Kubernetes does that in its own way; of keys given twice the last one counts, as for
 * kubectl. One that is only read, not edited, needs less memory.
 * @throws NotYaml
 */
export function readDocument(text: string, { isEdited = true } = {}): YamlDocument {
  try {
    const { contents: root } = parseNodes(text, {
      schema: "failsafe",
      uniqueKeys: false,
      strict: false,
      prettyErrors: false,
      keepSourceTokens: isEdited,
      logLevel: "error",
    });
    const { values, targets } = readValues(root);
    return { text, root, value: root === null ? null : values.get(root), values, targets };
  } catch (error) {
    // a call for each level of nesting
    if (error instanceof RangeError) throw new NotYaml(0, "this is nested too deeply");
    throw error;
  }
}

/** Returns the text of a pair's key. */
export function fieldNameOf({ key }: Pair, { values }: Values): string {
  return String(values.get(key as Node));
}
