import { isMap, isSeq, type Node, type Pair, type YAMLMap, type YAMLSeq } from "yaml";

/** A field of a map. The value is null if there is not even a colon. */
export type Item = Pair<Node, Node | null>;
/** A map or list of YAML. */
export type Collection = YAMLMap<Node, Node | null> | YAMLSeq<Node>;

/** Reports whether a node is a map or a list in lines of keys or dashes, not in braces or brackets. */
export function isBlock(node: Node | null): node is Collection {
  return (isMap(node) || isSeq(node)) && node.flow !== true;
}

/** Returns the offset at which a node begins, after its anchor and tag. */
export function startOf(node: Node): number {
  return node.range?.[0] ?? 0;
}

/**
 * Returns the offset after a node's own text, without what follows on the line; for a block scalar, after its last line
 * break.
 */
export function endOf(node: Node): number {
  return isBlock(node) && node.items.length > 0 ? endOfItem(node, node.items.length - 1) : (node.range?.[1] ?? 0);
}

/** Returns the offset after an item of a list, or after a field: after its value, or its key if it has no value. */
export function endOfItem(node: Collection, at: number): number {
  const item = node.items[at] as Item | Node;
  return endOf("key" in item ? (item.value ?? item.key) : item);
}

/** Returns the offset at which each item begins, with its anchor and tag; in a block list, that of its dash. */
export function startsOf(node: Collection): readonly number[] {
  return node.items.map((item, at) => {
    const token = tokensOf(node)[at]?.start.find(({ type }) => !between.includes(type));
    return token?.offset ?? startOf("key" in item ? item.key : item);
  });
}

/**
 * Returns the offset after the colon of a map's item, and after the anchor and tag that follow it; after its key if it
 * has no colon.
 */
export function colonOf(map: Collection, at: number): number {
  const token = tokensOf(map)[at]?.sep?.findLast(({ type }) => !between.includes(type));
  return token === undefined ? endOf((map.items[at] as Item).key) : token.offset + token.source.length;
}

/** Returns the column, from 0, of the keys or dashes of a block. */
export function columnOf(node: Collection): number {
  return (node.srcToken as { readonly indent?: number } | undefined)?.indent ?? 0;
}

interface Token {
  readonly type: string;
  readonly offset: number;
  readonly source: string;
}

/** The types of the tokens that stand between items, keys and values. */
const between: readonly string[] = ["space", "newline", "comment", "comma"];

/** Returns the parser's tokens of each item: those before it, and those between its key and value. */
function tokensOf(node: Collection) {
  const { items } = node.srcToken as unknown as {
    items: readonly { start: readonly Token[]; sep?: readonly Token[] }[];
  };
  return items;
}

/**
 * Returns the offset at which the next line starts; `at` itself if a line break stands before it. In a last line
 * without a line break, returns the end of the text.
 */
export function lineEnd(text: string, at: number): number {
  if (at > 0 && text[at - 1] === "\n") return at;
  const found = text.indexOf("\n", at);
  return found < 0 ? text.length : found + 1;
}

/** Returns the offset at which the line of an offset starts. */
export function lineStart(text: string, at: number): number {
  return at === 0 ? 0 : text.lastIndexOf("\n", at - 1) + 1;
}

/** Returns the blanks at the start of the line of an offset. */
export function indentationAt(text: string, at: number): string {
  const [blanks = ""] = /^[ \t]*/.exec(text.slice(lineStart(text, at))) ?? [];
  return blanks;
}

/** Reports whether nothing but blanks stands before an offset on its line. */
export function isFirstOnLine(text: string, at: number): boolean {
  return /^[ \t]*$/.test(text.slice(lineStart(text, at), at));
}
