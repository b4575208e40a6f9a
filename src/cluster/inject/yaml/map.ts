import type { Node, YAMLMap } from "yaml";
import type { JsonObject } from "../../../shared/core/json.ts";
import { fieldsOf, isMerge } from "./document.ts";
import { insertItems, itemIndent, removeItems, type YamlEdit } from "./items.ts";
import { colonOf, columnOf, type Item, isBlock } from "./places.ts";
import { blockLines, inlineField } from "./style.ts";

type Fields = YAMLMap<Node, Node | null>;

/**
 * Edits a YAML map so that it reads as `after`: changes and removes fields, and adds new ones at its end, where they win
 * over its merges (`<<`). Returns false, with the edit untouched, if nothing of it stays, so that it must be rewritten.
 */
export function changeMap(edit: YamlEdit, map: Fields, after: JsonObject): boolean {
  const owners = ownersOf(edit, map);
  const read = new Map<string, unknown>(); // what the items that stay will be read as
  const stays = map.items.map((pair, at) => {
    const fields = isMerge(pair) ? mergedFields(edit, pair, after) : changeField(edit, map, { at, owners, after });
    for (const [name, value] of fields ?? []) read.set(name, value);
    return fields !== undefined;
  });
  if (!stays.includes(true)) return false;
  removeItems(edit, map, stays);
  const isNew = ([name, value]: [string, unknown]) =>
    value !== undefined && !(read.has(name) && Bun.deepEquals(read.get(name), value, true));
  addFields(edit, map, stays, Object.entries(after).filter(isNew));
  return true;
}

/** Returns for each field of a map the index of the item that sets it: the last of several (measured: kubectl). */
function ownersOf({ document: { values } }: YamlEdit, map: Fields): ReadonlyMap<string, number> {
  return new Map(
    map.items.flatMap((pair, at) => fieldsOf(pair, (node) => values.get(node)).map(([name]) => [name, at] as const)),
  );
}

/**
 * Returns the fields that a merge (`<<`) will give; undefined if it must go, because what it gives can be overridden,
 * but not taken away.
 */
function mergedFields({ document: { values, targets }, expected }: YamlEdit, pair: Item, after: JsonObject) {
  const fields = fieldsOf(pair, (node) => {
    const target = targets.get(node);
    return target !== undefined && expected.has(target) ? expected.get(target) : values.get(node);
  });
  return fields.every(([name]) => hasField(after, name)) ? fields : undefined;
}

/** A field that a map already has. */
interface Field {
  readonly at: number;
  readonly owners: ReadonlyMap<string, number>;
  readonly after: JsonObject;
}

/** Changes the value of a field. Returns what it will be read as; undefined if the field must go. */
function changeField(edit: YamlEdit, map: Fields, { at, owners, after }: Field) {
  const { key, value: node } = map.items[at] as Item;
  const name = String(edit.document.values.get(key));
  // one that a later one overrides says what it said
  const value = owners.get(name) === at ? after[name] : node && edit.document.values.get(node);
  if (!hasField(after, name) || (node === null && value !== null)) return undefined;
  if (node !== null) {
    edit.change(node, value, { isFlow: !isBlock(map), column: columnOf(map), colon: colonOf(map, at) });
  }
  return [[name, value]] as const;
}

function hasField(object: JsonObject, name: string): boolean {
  return Object.hasOwn(object, name) && object[name] !== undefined;
}

function addFields(edit: YamlEdit, map: Fields, stays: readonly boolean[], added: readonly [string, unknown][]): void {
  if (added.length === 0) return;
  const spot = { behind: stays.lastIndexOf(true), first: stays.indexOf(true) };
  const base = itemIndent(edit, map, spot.first);
  const pieces = isBlock(map)
    ? blockLines(Object.fromEntries(added), edit.style)
    : added.map(([name, value]) => inlineField(name, value, edit.style, base));
  insertItems(edit, map, spot, pieces);
}
