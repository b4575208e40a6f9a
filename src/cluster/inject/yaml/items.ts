import type { Node } from "yaml";
import type { YamlDocument } from "./document.ts";
import {
  type Collection,
  columnOf,
  endOfItem,
  indentationAt,
  isBlock,
  isFirstOnLine,
  lineEnd,
  lineStart,
  startsOf,
} from "./places.ts";
import type { Splice } from "./splice.ts";
import type { YamlStyle } from "./style.ts";
import type { Written } from "./written.ts";

/** Where a value stands in the text, as far as its writing depends on it. */
export interface Position {
  /** Whether it is in braces or brackets, where line breaks mean nothing. */
  readonly isFlow: boolean;
  /** The column, from 0, of the key or dash that it belongs to. */
  readonly column: number;
  /** The offset after the colon of its key; undefined if it is an item of a list. */
  readonly colon: number | undefined;
}

/** A change of a document under way: the splices that it consists of so far. */
export interface YamlEdit {
  readonly document: YamlDocument;
  readonly style: YamlStyle;
  readonly written: Written;
  /** Grows as parts of the document are changed. */
  readonly splices: Splice[];
  /** What each node that was visited will be read as, in the text's order. */
  readonly expected: Map<Node, unknown>;
  /** Adds the splices that make a node read as `after`. */
  readonly change: (node: Node, after: unknown, position: Position) => void;
}

/** Adds a splice to the edit: the text from one offset up to another is replaced. Line breaks become the document's. */
export function addSplice({ splices, style }: YamlEdit, from: number, to: number, text: string): void {
  splices.push({ from, to, text: text.replaceAll("\n", style.newline) });
}

/**
 * Adds the insertion of whole lines to the edit. `at` is the offset at which a line starts, or the end of the text,
 * whose last line may have no line break.
 */
export function insertLines(edit: YamlEdit, at: number, lines: readonly string[]): void {
  const { text } = edit.document;
  const isCut = at === text.length && !text.endsWith("\n");
  addSplice(edit, at, at, lines.map((line) => (isCut ? `\n${line}` : `${line}\n`)).join(""));
}

/** Returns the lines, indented by `column` blanks unless they are empty. */
export function indented(lines: readonly string[], column: number): readonly string[] {
  return lines.map((line) => (line === "" ? line : " ".repeat(column) + line));
}

/** Adds to the edit the removal of the items for which `stays` is false: of their lines, or commas. One must stay. */
export function removeItems(edit: YamlEdit, node: Collection, stays: readonly boolean[]): void {
  const { text } = edit.document;
  const starts = startsOf(node) as number[];
  const first = stays.indexOf(true);
  const isOnDash = isBlock(node) && first > 0 && !isFirstOnLine(text, starts[0] as number);
  if (isOnDash) addSplice(edit, starts[0] as number, starts[first] as number, "");
  stays.forEach((stay, at) => {
    const [start, end] = [starts[at] as number, endOfItem(node, at)];
    if (stay || (isOnDash && at < first)) return;
    if (isBlock(node)) addSplice(edit, lineStart(text, start), lineEnd(text, end), "");
    else if (stays.includes(true, at)) addSplice(edit, start, starts[at + 1] as number, "");
    else addSplice(edit, endOfItem(node, at - 1), end, "");
  });
}

/** Where new items go: behind the item `behind`; if that is undefined, before `first`, the first item that stays. */
interface Spot {
  readonly behind: number | undefined;
  readonly first: number;
}

/** Adds to the edit the insertion of items. `parts`: in a block their lines, in braces or brackets a text for each. */
export function insertItems(edit: YamlEdit, node: Collection, { behind, first }: Spot, parts: readonly string[]): void {
  const { text } = edit.document;
  const start = startsOf(node)[first] as number;
  if (!isBlock(node)) {
    const base = itemIndent(edit, node, first);
    const separator = base !== undefined ? `,\n${base}` : edit.style.json === "" ? "," : ", ";
    const at = behind === undefined ? start : endOfItem(node, behind);
    return addSplice(
      edit,
      at,
      at,
      parts.map((piece) => (behind === undefined ? piece + separator : separator + piece)).join(""),
    );
  }
  const column = columnOf(node);
  const lines = indented(parts, column);
  if (behind !== undefined) return insertLines(edit, lineEnd(text, endOfItem(node, behind)), lines);
  if (first === 0 && isFirstOnLine(text, start)) return insertLines(edit, aboveComments(text, start), lines);
  addSplice(edit, start, start, `${lines.join("\n").trimStart()}\n${" ".repeat(column)}`);
}

/**
 * Returns the indentation of the lines of items in braces or brackets, which is that of the item `first`; undefined if
 * that item does not begin a line.
 */
export function itemIndent({ document: { text } }: YamlEdit, node: Collection, first: number): string | undefined {
  const start = startsOf(node)[first] as number;
  return isFirstOnLine(text, start) ? indentationAt(text, start) : undefined;
}

/** Returns where the comments and empty lines above a line start: they belong to what follows. */
function aboveComments(text: string, at: number): number {
  let start = lineStart(text, at);
  for (;;) {
    const above = lineStart(text, start - 1);
    if (start === 0 || !/^\s*(#.*)?$/.test(text.slice(above, start - 1))) return start;
    start = above;
  }
}
