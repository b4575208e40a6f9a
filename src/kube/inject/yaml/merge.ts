import { isAlias, isSeq, type Node } from "yaml";
import { isObject, type JsonObject } from "../../../core/base/json.ts";
import { fieldNameOf } from "./document.ts";
import { isMerge, startOf } from "./nodes.ts";
import type { Collection, Item } from "./places.ts";
import type { Edit } from "./splices.ts";

/**
 * Returns for each field of a map the index of the item that sets it. If several do, the last one counts, a merge
 * (`<<`) too (measured: kubectl).
 */
export function ownersOf({ document }: Edit, map: Collection): ReadonlyMap<string, number> {
  const owners = new Map<string, number>();
  (map.items as readonly Item[]).forEach((pair, at) => {
    const merged = isMerge(pair) ? mergedBy(document.values.get(pair.value as Node)) : undefined;
    const names = merged === undefined ? [fieldNameOf(pair, document)] : Object.keys(merged);
    for (const name of names) owners.set(name, at);
  });
  return owners;
}

/**
 * Reports whether a merge (`<<`) takes fields from inside its own map, from a part that is not changed yet: what it
 * will give is not known.
 */
export function isFromInside({ document, expected }: Edit, map: Collection, { value }: Item): boolean {
  const sources = isSeq(value) ? (value.items as Node[]) : [value as Node];
  const [start = 0, , end = 0] = map.range ?? [];
  return sources.some((node) => {
    const target = isAlias(node) ? document.targets.get(node) : undefined;
    if (target === undefined || expected.has(target)) return false;
    const at = startOf(target);
    return at >= start && at < end;
  });
}

/** Returns the fields that a merge (`<<`) gives once the maps that it merges are changed. */
export function mergedAfter({ document, expected }: Edit, { value }: Item): JsonObject {
  const after = (node: Node): unknown => {
    const target = isAlias(node) ? document.targets.get(node) : undefined;
    return target !== undefined && expected.has(target) ? expected.get(target) : document.values.get(node);
  };
  return mergedBy(isSeq(value) ? (value.items as Node[]).map(after) : after(value as Node));
}

/** Merges one map or a list of maps, of which the first that has a key wins. */
function mergedBy(value: unknown): JsonObject {
  const maps: readonly unknown[] = Array.isArray(value) ? value.toReversed() : [value];
  return Object.fromEntries(maps.filter(isObject).flatMap((map) => Object.entries(map)));
}
