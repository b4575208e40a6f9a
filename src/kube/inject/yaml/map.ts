import type { Node, YAMLMap } from "yaml";
import type { JsonObject } from "../../../core/base/json.ts";
import { fieldNameOf } from "./document.ts";
import { jsonField } from "./json.ts";
import { isFromInside, mergedAfter, ownersOf } from "./merge.ts";
import { isMerge } from "./nodes.ts";
import { colonOf, columnOf, endOfPair, type Item, isBlock, isFirstOnLine, lineEnd, startsOf } from "./places.ts";
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
import { blockLines, flowFields } from "./text.ts";

type Fields = YAMLMap<Node, Node | null>;

/** What is done with each item of a map. */
interface Plan {
  readonly stays: readonly boolean[];
  /** Returns the index of the map's own item that sets a field; undefined if there is none that stays. */
  readonly owner: (name: string) => number | undefined;
  /** The fields that come from those merges (`<<`) that stay. */
  readonly merged: ReadonlyMap<string, unknown>;
  readonly after: JsonObject;
}

/**
 * Edits a YAML map so that it reads as `after`: changes, inserts and removes fields, each in its place in the text.
 * Returns false, with the edit untouched, if the map must be rewritten as a whole (for example because no field stays).
 */
export function changeMap(edit: Edit, map: Fields, after: JsonObject): boolean {
  const plan = planOf(edit, map, after);
  if (!canChange(edit, map, plan)) return false;
  changeFields(edit, map, plan);
  if (isBlock(map)) removeLines(edit, map, plan.stays);
  else removeInFlow(edit, map, plan.stays);
  for (const [behind, fields] of additions(map, plan)) add(edit, map, { behind, fields, stays: plan.stays });
  return true;
}

function planOf(edit: Edit, map: Fields, after: JsonObject): Plan {
  const owners = ownersOf(edit, map);
  const isOwn = (name: string) => owners.has(name) && !isMerge(map.items[owners.get(name) as number] as Item);
  const isWanted = (name: string) => Object.hasOwn(after, name) && after[name] !== undefined;
  const isSame = Bun.deepEquals(edit.document.values.get(map), after, true);
  const merges = map.items.map((pair) => (isMerge(pair) ? mergedAfter(edit, pair) : undefined));
  // what a merge gives can be overridden, but not taken away
  const stays = map.items.map((pair, at) => {
    const merged = merges[at];
    if (merged === undefined) return isWanted(fieldNameOf(pair, edit.document));
    if (!isSame && isFromInside(edit, map, pair)) return false;
    return Object.keys(merged).every((name) => isOwn(name) || isWanted(name));
  });
  const owner = (name: string) => {
    const at = isOwn(name) ? owners.get(name) : undefined;
    return at !== undefined && stays[at] ? at : undefined;
  };
  const merged = new Map(merges.flatMap((fields, at) => (fields && stays[at] ? Object.entries(fields) : [])));
  return { stays, owner, merged, after };
}

function canChange({ document }: Edit, map: Fields, { stays, after }: Plan): boolean {
  if (!stays.includes(true)) return false;
  const starts = startsOf(map);
  return map.items.every((pair, at) => {
    if (!stays[at]) return !isBlock(map) || isFirstOnLine(document.text, starts[at] as number);
    return pair.value !== null || after[fieldNameOf(pair, document)] === null;
  });
}

function changeFields(edit: Edit, map: Fields, { stays, owner, after }: Plan): void {
  map.items.forEach((pair, at) => {
    if (!stays[at] || pair.value === null || isMerge(pair)) return;
    const name = fieldNameOf(pair, edit.document);
    // one that a later one overrides says what it said
    const value = owner(name) === at ? after[name] : edit.document.values.get(pair.value);
    edit.change(pair.value, value, { isFlow: !isBlock(map), column: columnOf(map), colon: colonOf(map, at) });
  });
}

/**
 * New fields, and the index of the item behind which they are inserted; undefined means before the first that stays.
 */
type Addition = readonly [behind: number | undefined, fields: JsonObject];

/**
 * Lists the new fields, each behind the field that it follows in `after`. In a map with `<<` all are inserted at its
 * end, where they win.
 */
function additions(map: Fields, { stays, owner, merged, after }: Plan): readonly Addition[] {
  const groups = new Map<number | undefined, [string, unknown][]>();
  const hasMerge = map.items.some(isMerge);
  let behind = hasMerge ? stays.lastIndexOf(true) : undefined;
  for (const [name, value] of Object.entries(after)) {
    const at = owner(name);
    if (value === undefined || (at === undefined && Bun.deepEquals(merged.get(name), value, true))) continue;
    if (at === undefined) groups.set(behind, [...(groups.get(behind) ?? []), [name, value]]);
    else if (!hasMerge) behind = at;
  }
  return [...groups].map(([at, fields]) => [at, Object.fromEntries(fields)]);
}

interface Added {
  readonly behind: number | undefined;
  readonly fields: JsonObject;
  readonly stays: readonly boolean[];
}

function add(edit: Edit, map: Fields, { behind, fields, stays }: Added): void {
  const first = stays.indexOf(true);
  if (!isBlock(map)) {
    const texts = Object.entries(fields).map((field) => fieldText(edit, field, baseOf(edit, map, first)));
    return insertInFlow(edit, map, { after: behind, first, texts });
  }
  const column = columnOf(map);
  const lines = blockLines(fields, edit.style);
  if (behind !== undefined) {
    const end = endOfPair(map.items[behind] as Item);
    return insertLines(edit, lineEnd(edit.document.text, end), indented(lines, column));
  }
  const at = startsOf(map)[first] as number;
  addSplice(edit, [at, at], [...indented(lines, column), " ".repeat(column)].join("\n").slice(column));
}

function fieldText({ style }: Edit, field: readonly [string, unknown], base: string | undefined): string {
  if (style.json !== undefined) return jsonField(field, style.json, base);
  return flowFields(Object.fromEntries([field]));
}
