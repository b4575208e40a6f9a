import { diffArrays } from "diff";
import type { Node, YAMLSeq } from "yaml";
import { isObject } from "../../../shared/core/json.ts";
import { addSplice, insertItems, itemIndent, removeItems, type YamlEdit } from "./items.ts";
import { columnOf, endOf, endOfItem, isBlock, startOf, startsOf } from "./places.ts";
import { blockLines, inlineText, quotedLike } from "./style.ts";

/**
 * Edits a YAML list so that it reads as `after`: changes, inserts and removes items, each in its place in the text. If
 * nothing of it stays, a list in brackets keeps its blanks and quotes; any other must be rewritten: returns false, with
 * the edit untouched.
 */
export function changeList(edit: YamlEdit, list: YAMLSeq<Node>, after: readonly unknown[]): boolean {
  const rows = alignItems(edit.document.values.get(list) as readonly unknown[], after);
  const staying = new Set(rows);
  const stays = list.items.map((_, at) => staying.has(at));
  const first = stays.indexOf(true);
  if (first < 0) return fillBrackets(edit, list, after);
  const position = { isFlow: !isBlock(list), column: columnOf(list), colon: undefined };
  rows.forEach((row, at) => {
    if (row !== undefined) edit.change(list.items[row] as Node, after[at], position);
  });
  removeItems(edit, list, stays);
  const base = itemIndent(edit, list, first);
  for (const [behind, values] of additions(rows, after)) {
    const neighbour = list.items[behind ?? first];
    const pieces = values.flatMap((value) => {
      const quoted = quotedLike(neighbour, value);
      if (!isBlock(list)) return quoted ?? inlineText(value, edit.style, base);
      return quoted === undefined ? blockLines([value], edit.style) : `- ${quoted}`;
    });
    insertItems(edit, list, { behind, first }, pieces);
  }
  return true;
}

/**
 * Replaces the items of a list in brackets on one line. Returns false, with the edit untouched, if it is none, or empty.
 */
function fillBrackets(edit: YamlEdit, list: YAMLSeq<Node>, after: readonly unknown[]): boolean {
  const { text } = edit.document;
  const [from, to] = [startOf(list), endOf(list)];
  const inner = /^\[([^\r\n]*)\]$/.exec(text.slice(from, to))?.[1];
  const [neighbour] = list.items;
  if (list.flow !== true || inner === undefined || neighbour === undefined || after.length === 0) return false;
  const isDense = list.items.length > 1 && text.slice(endOfItem(list, 0), startsOf(list)[1]) === ",";
  const items = after.map((value) => quotedLike(neighbour, value) ?? inlineText(value, edit.style, undefined));
  const before = inner.slice(0, inner.length - inner.trimStart().length);
  const behind = inner.slice(inner.trimEnd().length);
  addSplice(edit, from, to, `[${before}${items.join(isDense ? "," : ", ")}${behind}]`);
  return true;
}

/** Groups the new items by the index of the item behind which they are inserted; undefined means before the first. */
function additions(rows: readonly (number | undefined)[], after: readonly unknown[]) {
  const groups = new Map<number | undefined, unknown[]>();
  let behind: number | undefined;
  rows.forEach((row, at) => {
    if (row === undefined) groups.set(behind, [...(groups.get(behind) ?? []), after[at]]);
    else behind = row;
  });
  return groups;
}

/**
 * Returns for each item of a newer list its index in the older one; undefined if it is new. Items are matched as
 * Kubernetes does: by name, mounts by mountPath, objects by kind, namespace and name, others if they are equal. If n
 * items replace n others in one place, they are matched by position.
 */
function alignItems(before: readonly unknown[], after: readonly unknown[]): readonly (number | undefined)[] {
  let at = 0;
  let removed = 0;
  return diffArrays(before.map(identity), after.map(identity)).flatMap((chunk) => {
    const { length } = chunk.value;
    const first = chunk.added ? at - removed : at;
    const isMatched = !chunk.added || removed === length;
    removed = chunk.removed ? length : 0;
    if (!chunk.added) at += length;
    return chunk.removed ? [] : chunk.value.map((_, each) => (isMatched ? first + each : undefined));
  });
}

function identity(item: unknown): string {
  if (!isObject(item)) return JSON.stringify(item);
  const { name, mountPath, kind, metadata } = item;
  if (typeof mountPath === "string") return `mount ${mountPath}`;
  if (typeof name === "string") return `name ${name}`;
  if (isObject(metadata) && typeof metadata.name === "string") {
    return `object ${kind} ${metadata.namespace} ${metadata.name}`;
  }
  return JSON.stringify(item);
}
