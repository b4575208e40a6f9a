import type { Node } from "yaml";
import type { YamlDocument } from "./document.ts";
import {
  type Collection,
  endOf,
  endOfPair,
  type Item,
  indentationAt,
  isFirstOnLine,
  lineEnd,
  lineStart,
  type Place,
  startsOf,
} from "./places.ts";
import type { Splice } from "./splice.ts";
import type { YamlStyle } from "./text.ts";

/** A change of a document under way: the splices that it consists of so far. */
export interface Edit {
  readonly document: YamlDocument;
  readonly style: YamlStyle;
  /** Grows as parts of the document are changed. */
  readonly splices: Splice[];
  /** What each node that was visited will be read as, in the text's order. */
  readonly expected: Map<Node, unknown>;
  /** Adds the splices that make a node read as `after`. */
  readonly change: (node: Node, after: unknown, place: Place) => void;
}

/** Adds a splice to the edit: the text from one offset up to another is replaced. Line breaks become the document's. */
export function addSplice({ splices, style }: Edit, [from, to]: readonly [number, number], text: string): void {
  splices.push({ from, to, text: text.replaceAll("\n", style.newline) });
}

/**
 * Adds the insertion of whole lines to the edit. `at` is the offset at which a line starts, or the end of the text,
 * whose last line may have no line break.
 */
export function insertLines(edit: Edit, at: number, lines: readonly string[]): void {
  const { text } = edit.document;
  const isCut = at === text.length && !text.endsWith("\n");
  addSplice(edit, [at, at], lines.map((line) => (isCut ? `\n${line}` : `${line}\n`)).join(""));
}

/** Returns the lines, indented by `column` spaces unless they are empty. */
export function indented(lines: readonly string[], column: number): readonly string[] {
  return lines.map((line) => (line === "" ? line : " ".repeat(column) + line));
}

/** Adds to the edit the removal of the lines of those items of a block map or list for which `stays` is false. */
export function removeLines(edit: Edit, node: Collection, stays: readonly boolean[]): void {
  const { text } = edit.document;
  const starts = startsOf(node);
  stays.forEach((stay, at) => {
    if (!stay) addSplice(edit, [lineStart(text, starts[at] as number), lineEnd(text, endOfItem(node, at))], "");
  });
}

/**
 * Adds to the edit the insertion of items in braces or brackets: after the item with the index `after`; if that is
 * undefined, before the item `first`.
 */
export function insertInFlow(edit: Edit, node: Collection, { after, first, texts }: FlowInsertion): void {
  const separator = separatorOf(edit, node, first);
  if (after === undefined) {
    const at = startsOf(node)[first] as number;
    return addSplice(edit, [at, at], texts.map((text) => text + separator).join(""));
  }
  const at = endOfItem(node, after);
  addSplice(edit, [at, at], texts.map((text) => separator + text).join(""));
}

/** New items for braces or brackets. */
interface FlowInsertion {
  readonly after: number | undefined;
  /** The index of the first item that stays. */
  readonly first: number;
  readonly texts: readonly string[];
}

/**
 * Adds to the edit the removal of the items in braces or brackets for which `stays` is false, with their commas. At
 * least one item must stay.
 */
export function removeInFlow(edit: Edit, node: Collection, stays: readonly boolean[]): void {
  const starts = startsOf(node);
  stays.forEach((stay, at) => {
    if (stay) return;
    const next = starts[at + 1];
    const isLastRun = !stays.includes(true, at);
    if (!isLastRun) addSplice(edit, [starts[at] as number, next as number], "");
    else addSplice(edit, [endOfItem(node, at - 1), endOfItem(node, at)], "");
  });
}

/**
 * Returns the indentation of the lines of items in braces or brackets, which is that of the item `first`; undefined if
 * that item does not begin a line.
 */
export function baseOf({ document: { text } }: Edit, node: Collection, first: number): string | undefined {
  const start = startsOf(node)[first] as number;
  return isFirstOnLine(text, start) ? indentationAt(text, start) : undefined;
}

function separatorOf(edit: Edit, node: Collection, first: number): string {
  const base = baseOf(edit, node, first);
  if (base !== undefined) return `,\n${base}`;
  return edit.style.json === "" ? "," : ", ";
}

function endOfItem(node: Collection, at: number): number {
  const item = node.items[at] as Item | Node;
  return "key" in item ? endOfPair(item) : endOf(item);
}
