import type { Node, YAMLSeq } from "yaml";
import { alignItems } from "./align.ts";
import { jsonText } from "./json.ts";
import { columnOf, endOf, isBlock, isFirstOnLine, lineEnd, lineStart, type Place, startsOf } from "./places.ts";
import {
  addSplice,
  baseOf,
  type Edit,
  indented,
  insertInFlow,
  insertLines,
  removeInFlow,
  removeLines,
} from "./splices.ts";
import { blockLines, flowText, quotedLike } from "./text.ts";

type Items = YAMLSeq<Node | null>;

/**
 * Edits a YAML list so that it reads as `after`: changes, inserts and removes items, each in its place in the text.
 * Returns false, with the edit untouched, if the list must be rewritten as a whole (for example because no item stays).
 * `place`: where the list stands.
 */
export function changeList(
  edit: Edit,
  list: Items,
  { after, place }: { after: readonly unknown[]; place: Place },
): boolean {
  const rows = alignItems(edit.document.values.get(list) as readonly unknown[], after);
  const staying = new Set(rows);
  const stays = list.items.map((_, at) => staying.has(at));
  if (!canChange(edit, list, stays)) return false;
  rows.forEach((row, at) => {
    if (row === undefined) return;
    const inner = { isFlow: !isBlock(list), column: columnOf(list), colon: undefined };
    edit.change(list.items[row] as Node, after[at], inner);
  });
  if (isBlock(list)) removeLines(edit, list, stays);
  else removeInFlow(edit, list, stays);
  for (const [behind, values] of additions(rows, after))
    add(edit, list, { behind, values, place, first: stays.indexOf(true) });
  return true;
}

function canChange({ document: { text } }: Edit, list: Items, stays: readonly boolean[]): boolean {
  if (!stays.includes(true) || list.items.includes(null)) return false;
  const starts = startsOf(list);
  return !isBlock(list) || stays.every((stay, at) => stay || isFirstOnLine(text, starts[at] as number));
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

/** New items, and where they go. */
interface Added {
  /** The index of the item before them; undefined if they come first. */
  readonly behind: number | undefined;
  readonly values: readonly unknown[];
  readonly place: Place;
  /** The index of the first item that stays. */
  readonly first: number;
}

function add(edit: Edit, list: Items, { behind, values, place, first }: Added): void {
  const { text } = edit.document;
  const neighbour = list.items[behind ?? first] as Node;
  if (!isBlock(list)) {
    const base = baseOf(edit, list, first);
    const texts = values.map((value) => itemText(edit, value, { neighbour, base }));
    return insertInFlow(edit, list, { after: behind, first, texts });
  }
  const column = columnOf(list);
  const lines = values.flatMap((value) => {
    const quoted = quotedLike(neighbour, value);
    return quoted === undefined ? blockLines([value], edit.style) : [`- ${quoted}`];
  });
  if (behind !== undefined) {
    const end = lineEnd(text, endOf(list.items[behind] as Node));
    return insertLines(edit, end, indented(lines, column));
  }
  const dash = startsOf(list)[first] as number;
  if (isFirstOnLine(text, dash)) {
    return insertLines(
      edit,
      first === 0 ? aboveComments(text, dash, place.colon ?? 0) : lineStart(text, dash),
      indented(lines, column),
    );
  }
  addSplice(edit, [dash, dash], [...indented(lines, column), " ".repeat(column)].join("\n").slice(column));
}

/** Returns where the comments and empty lines above a line start: they belong to what follows. */
function aboveComments(text: string, at: number, limit: number): number {
  let start = lineStart(text, at);
  for (;;) {
    const above = lineStart(text, start - 1);
    if (start === 0 || above <= limit || !/^\s*(#.*)?$/.test(text.slice(above, start - 1))) return start;
    start = above;
  }
}

/** What a new item in brackets is written like: the item next to it, and its indentation. */
interface Beside {
  readonly neighbour: Node;
  readonly base: string | undefined;
}

function itemText({ style }: Edit, value: unknown, { neighbour, base }: Beside): string {
  if (style.json !== undefined) return jsonText(value, style.json, base);
  return quotedLike(neighbour, value) ?? flowText(value);
}
