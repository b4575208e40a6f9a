import { isMap, isSeq, type Node, type Pair, type YAMLMap, type YAMLSeq } from "yaml";
import { startOf } from "./nodes.ts";

/** A map or list of YAML. */
export type Collection = YAMLMap<Node, Node | null> | YAMLSeq<Node | null>;
/** A field of a map. */
export type Item = Pair<Node, Node | null>;

/** Where a value stands in the text, as far as its writing depends on it. */
export interface Place {
  /** Whether it is in braces or brackets, where line breaks mean nothing. */
  readonly isFlow: boolean;
  /** The column, from 0, of the key or dash that it belongs to. */
  readonly column: number;
  /** The offset after the colon of its key; undefined if it is an item of a list. */
  readonly colon: number | undefined;
}

/** Reports whether a node is a map or a list. */
export function isCollection(node: unknown): node is Collection {
  return isMap(node) || isSeq(node);
}

/** Reports whether a collection is written in lines of keys or dashes, not in braces or brackets. */
export function isBlock(node: Collection): boolean {
  return node.flow !== true;
}

/**
 * Returns the offset after a node's own text, without what follows on the line; for a block scalar, after its last line
 * break.
 */
export function endOf(node: Node): number {
  if (!isCollection(node) || !isBlock(node) || node.items.length === 0) return node.range?.[1] ?? 0;
  const last = node.items.at(-1) as Item | Node;
  return isNode(last) ? endOf(last) : endOfPair(last);
}

/** Returns the offset after a field: after its value, or after its key if it has no value. */
export function endOfPair({ key, value }: Item): number {
  return endOf(value ?? key);
}

/** Returns the offset at which each item begins, with its anchor and tag; in a block list, that of its dash. */
export function startsOf(node: Collection): readonly number[] {
  return tokensOf(node).map((item, at) => startOfItem(item, node.items[at] as Item | Node, node));
}

/** Returns the offset after the colon of a map's item; of its key if it has no colon. */
export function colonOf(map: Collection, at: number): number {
  const token = tokensOf(map)[at]?.sep?.find(({ type }) => type === "map-value-ind");
  return token === undefined ? startOf((map.items[at] as Item).key) : token.offset + 1;
}

/** Returns the column, from 0, of the keys or dashes of a block. */
export function columnOf(node: Collection): number {
  return (node.srcToken as { readonly indent?: number } | undefined)?.indent ?? 0;
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

interface Token {
  readonly type: string;
  readonly offset: number;
}

interface ItemTokens {
  readonly start: readonly Token[];
  readonly sep?: readonly Token[];
}

/** Returns the parser's tokens of each item. */
function tokensOf(node: Collection): readonly ItemTokens[] {
  const { items } = node.srcToken as unknown as { readonly items: readonly ItemTokens[] };
  // what follows the last item is one more without a value
  return items.slice(0, node.items.length);
}

function startOfItem({ start }: ItemTokens, item: Item | Node, node: Collection): number {
  const marks = isSeq(node) && isBlock(node) ? ["seq-item-ind"] : ["explicit-key-ind", "anchor", "tag"];
  const mark = start.find(({ type }) => marks.includes(type));
  return mark?.offset ?? startOf(isNode(item) ? item : item.key);
}

function isNode(item: Item | Node): item is Node {
  return !("key" in item);
}
