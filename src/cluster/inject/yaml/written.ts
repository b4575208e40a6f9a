import { isMap, isSeq, type Node } from "yaml";
import { isObject, type Path } from "../../../shared/core/json.ts";
import type { YamlDocument } from "./document.ts";
import { colonOf, endOf, type Item, isBlock, startOf } from "./places.ts";

/** How fields are to be written if nothing is in them, as `emptyTextAt` says it. */
export type Written = ReadonlyMap<Node, string>;

/** The value of a field, and where it begins: after the colon; in braces, where it stands. */
interface Value {
  readonly node: Node;
  readonly from: number;
}

/** Finds the value of a field. Returns undefined if it is not there, or shared by an alias. */
function valueAt({ root, values }: YamlDocument, path: Path): Value | undefined {
  let found: Value | undefined = root === null ? undefined : { node: root, from: 0 };
  for (const part of path) {
    const node: Node | undefined = found?.node;
    found = undefined;
    if (isMap(node)) {
      const at = (node.items as Item[]).findLastIndex(({ key }) => values.get(key) === part);
      const value = (node.items[at] as Item | undefined)?.value;
      if (value) found = { node: value, from: isBlock(node) ? colonOf(node, at) : startOf(value) };
    } else if (isSeq(node)) {
      const item = node.items[Number(part)] as Node | undefined;
      if (item !== undefined) found = { node: item, from: startOf(item) };
    }
  }
  return found;
}

/**
 * Returns how a field is written in which nothing is, as blanks and a token: `\n  []`. A number before them says how many
 * characters after the colon stay when something is put into it: a comment, an anchor. Undefined if something is in it,
 * or if `change` would write it so.
 */
export function emptyTextAt(document: YamlDocument, path: Path): string | undefined {
  const found = valueAt(document, path);
  const value = found && document.values.get(found.node);
  if (found === undefined || !isEmpty(value)) return undefined;
  const end = endOf(found.node);
  // where nothing stands, the parser's place is that of the comment behind it
  if (end === startOf(found.node) && value === null) return undefined;
  const text = document.text.slice(found.from, end).replaceAll("\r\n", "\n");
  const usual = value === null ? ["", "null"] : [` ${JSON.stringify(value)}`, JSON.stringify(value)];
  if (text.length > LONGEST || usual.includes(text)) return undefined;
  const token = new RegExp(`${TOKEN}$`).exec(text)?.[0];
  if (token === undefined) return undefined;
  const kept = text.slice(0, text.length - token.length).trimEnd().length;
  return `${kept || ""}${text.slice(kept)}`;
}

/** What is longer has comments that are. */
const LONGEST = 1000;
const TOKEN = String.raw`(\[\s*\]|\{\s*\}|~|null|Null|NULL)`;

/** Reports whether nothing is in a value: null, or an empty list or map. */
export function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return value === null || (isObject(value) && Object.keys(value).length === 0);
}

/** Returns the nodes of fields, each with its text. */
export function nodesOf(document: YamlDocument, texts: readonly (readonly [Path, string])[]): Written {
  return new Map(
    texts.flatMap(([path, text]) => {
      const found = valueAt(document, path);
      return found === undefined ? [] : [[found.node, text] as const];
    }),
  );
}

/** Splits what `emptyTextAt` has returned into how much stays, and what was taken out. Undefined if it is none. */
export function splitWritten(
  text: string | undefined,
): { readonly kept: number; readonly own: string; readonly token: string } | undefined {
  const [, kept, own = "", token = ""] = new RegExp(`^(\\d*)(\\s*${TOKEN})$`).exec(text ?? "") ?? [];
  return kept === undefined ? undefined : { kept: Number(kept), own, token };
}
