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

/** A change of a document under way. */
export interface Edit {
  readonly document: YamlDocument;
  readonly style: YamlStyle;
  readonly splices: Splice[];
  /** What is to be read in each node that was visited, in the text's order. */
  readonly expected: Map<Node, unknown>;
  readonly change: (node: Node, after: unknown, place: Place) => void;
}

/** Adds a change to the edit: the text from one offset to another is replaced. */
export function addSplice({ splices, style }: Edit, [from, to]: readonly [number, number], text: string): void {
  splices.push({ from, to, text: text.replaceAll("\n", style.newline) });
}

/** Inserts whole lines at the start of a line, or at the end of the text, whose last line may have no line break. */
export function insertLines(edit: Edit, at: number, lines: readonly string[]): void {
  const { text } = edit.document;
  const isCut = at === text.length && !text.endsWith("\n");
  addSplice(edit, [at, at], lines.map((line) => (isCut ? `\n${line}` : `${line}\n`)).join(""));
}

/** Indents each line that is not empty by `column` spaces. */
export function indented(lines: readonly string[], column: number): readonly string[] {
  return lines.map((line) => (line === "" ? line : " ".repeat(column) + line));
}

/** Removes the lines of the items that do not stay. */
export function removeLines(edit: Edit, node: Collection, stays: readonly boolean[]): void {
  const { text } = edit.document;
  const starts = startsOf(node);
  stays.forEach((stay, at) => {
    if (!stay) addSplice(edit, [lineStart(text, starts[at] as number), lineEnd(text, endOfItem(node, at))], "");
  });
}

/** Inserts items in braces or brackets, after the item `after`, or before the first that stays. */
export function insertInFlow(edit: Edit, node: Collection, { after, first, texts }: FlowInsertion): void {
  const separator = separatorOf(edit, node, first);
  if (after === undefined) {
    const at = startsOf(node)[first] as number;
    return addSplice(edit, [at, at], texts.map((text) => text + separator).join(""));
  }
  const at = endOfItem(node, after);
  addSplice(edit, [at, at], texts.map((text) => separator + text).join(""));
}

interface FlowInsertion {
  readonly after: number | undefined;
  readonly first: number;
  readonly texts: readonly string[];
}

/** Removes the items in braces or brackets that do not stay, with their commas. */
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

/** Returns the indentation for a new item's lines inside braces; undefined if items share a line. */
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
