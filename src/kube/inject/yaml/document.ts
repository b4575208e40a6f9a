import type { Node, Pair } from "yaml";
import { NotYaml } from "./nodes.ts";
import { parseNodes } from "./parse.ts";
import { readValues, type Values } from "./values.ts";

/** The text of a YAML document, its nodes, and what Kubernetes reads in them. JSON is YAML, too. */
export interface YamlDocument extends Values {
  readonly text: string;
  /** Null if there are only comments. */
  readonly root: Node | null;
  /** What Kubernetes reads in the whole document. */
  readonly value: unknown;
}

/**
 * Parses a YAML or JSON document, and reads its values as Kubernetes does, not as the parser would. If a key is given
 * twice, the last one counts, as for kubectl. With `isEdited: false` it needs less memory, but the result cannot be
 * edited.
 * @throws NotYaml if Kubernetes could not read the text
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

/** Returns the name of a map's field as Kubernetes reads it: for the plain key `yes` it is `true`. */
export function fieldNameOf({ key }: Pair, { values }: Values): string {
  return String(values.get(key as Node));
}
