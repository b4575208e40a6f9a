import { isObject, type JsonObject } from "../../shared/core/json.ts";

/**
 * Reports whether two JSON values, such as pods, mean the same. Fields may be in any order, and so may the items of a
 * list in which each has a `mountPath` or `name` of its own (containers, volumes, mounts, variables): other webhooks
 * may have moved them.
 */
export function isSame(a: unknown, b: unknown): boolean {
  if (a === b || Object.is(a, b)) return true; // YAML has .nan
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && isSameList(a, b);
  if (!isObject(a) || !isObject(b)) return false;
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length && names.every((name) => Object.hasOwn(b, name) && isSame(a[name], b[name]))
  );
}

function isSameList(a: readonly unknown[], b: readonly unknown[]): boolean {
  const others = byKey(b);
  if (others === undefined || byKey(a) === undefined) return a.every((item, at) => isSame(item, b[at]));
  return a.every((item) => isSame(item, others.get(keyOf(item) as string)));
}

/** Returns the items by their keys, or undefined if an item has no key or two have the same. */
function byKey(list: readonly unknown[]): ReadonlyMap<string, unknown> | undefined {
  const found = new Map(list.map((item) => [keyOf(item), item] as const));
  return found.size === list.length && !found.has(undefined) ? (found as ReadonlyMap<string, unknown>) : undefined;
}

function keyOf(item: unknown): string | undefined {
  if (!isObject(item)) return undefined;
  const { mountPath, name }: JsonObject = item;
  const key = mountPath ?? name;
  return typeof key === "string" ? key : undefined;
}
