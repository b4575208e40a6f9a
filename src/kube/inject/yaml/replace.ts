import type { Node } from "yaml";
import { isObject } from "../../../core/base/json.ts";
import { jsonText } from "./json.ts";
import { startOf } from "./nodes.ts";
import {
  endOf,
  indentationAt,
  isBlock,
  isCollection,
  isFirstOnLine,
  lineEnd,
  lineStart,
  type Place,
} from "./places.ts";
import { addSplice, type Edit, indented, insertLines } from "./splices.ts";
import { blockLines, flowText } from "./text.ts";

/** Adds to the edit the splices that replace a node's value, in the document's style. Its anchor and tag stay. */
export function replaceNode(edit: Edit, node: Node, after: unknown, place: Place): void {
  const from = startOf(node);
  if (place.isFlow) return addSplice(edit, [from, endOf(node)], inline(edit, after, from));
  const isTall = isCollection(node) && isBlock(node);
  // a block on the colon's own line, after `? key`, is written as one after a dash
  const isBeside = isTall && !isFirstOnLine(edit.document.text, from);
  if (place.colon === undefined || isBeside) return replaceItem(edit, node, after, place.column);
  if (isInline(after)) return replaceOnLine(edit, node, after, isTall ? place.colon : from);
  const { text } = edit.document;
  const column = place.column + (Array.isArray(after) && !edit.style.indentSeq ? 0 : edit.style.indent);
  const lines = indented(blockLines(after, edit.style), column);
  if (isTall) addSplice(edit, [lineStart(text, from), lineEnd(text, endOf(node))], "");
  else addSplice(edit, [from - blanksBefore(text, from), endOf(node) - breakAt(text, node)], "");
  insertLines(edit, lineEnd(text, endOf(node)), lines);
}

/** Reports whether a value stands on the line of its key: a scalar, or an empty list or map. */
function isInline(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return !isObject(value) || Object.keys(value).length === 0;
}

function replaceItem(edit: Edit, node: Node, after: unknown, column: number): void {
  const from = startOf(node);
  const end = endOf(node) - breakAt(edit.document.text, node);
  if (isInline(after)) return addSplice(edit, [from, end], inline(edit, after, from));
  const lines = indented(blockLines(after, edit.style), column + 2);
  addSplice(edit, [from, end], lines.join("\n").trimStart());
}

function replaceOnLine(edit: Edit, node: Node, after: unknown, from: number): void {
  const { text } = edit.document;
  const blank = /\s/.test(text[from - 1] ?? " ") ? "" : " ";
  addSplice(edit, [from, endOf(node) - breakAt(text, node)], blank + inline(edit, after, from));
}

function inline({ style, document: { text } }: Edit, value: unknown, at: number): string {
  if (style.json !== undefined)
    return jsonText(value, style.json, style.json === "" ? undefined : indentationAt(text, at));
  if (typeof value === "string" && value.includes("\n")) return JSON.stringify(value);
  return flowText(value);
}

/** Returns the length of the line break with which a node ends, as block scalars do; 0 if it does not. */
function breakAt(text: string, node: Node): number {
  const end = endOf(node);
  if (end === startOf(node) || text[end - 1] !== "\n") return 0;
  return text[end - 2] === "\r" ? 2 : 1;
}

function blanksBefore(text: string, at: number): number {
  let start = at;
  while (text[start - 1] === " " || text[start - 1] === "\t") start -= 1;
  return at - start;
}
