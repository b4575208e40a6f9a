import { isObject, type JsonObject } from "../../shared/core/json.ts";

/** An operation of a JSON Patch (RFC 6902). */
type Operation =
  | { readonly op: "add" | "replace"; readonly path: string; readonly value: unknown }
  | { readonly op: "remove"; readonly path: string };

/**
 * Returns the JSON Patch (RFC 6902) that turns one JSON value into another; empty if they are equal. In a list, what is
 * alike at both ends stays, and the rest is compared item by item: the time is linear, and no item is replaced as a
 * whole, with numbers in it that JavaScript cannot hold. `path`: the JSON Pointer of both values.
 */
export function patchBetween(before: unknown, after: unknown, path = ""): Operation[] {
  if (before === after) return [];
  if (Array.isArray(before) && Array.isArray(after)) return patchLists(before, after, path);
  if (isObject(before) && isObject(after)) return patchFields(before, after, path);
  return [{ op: "replace", path, value: after }];
}

function patchFields(before: JsonObject, after: JsonObject, path: string): Operation[] {
  const at = (name: string) => `${path}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
  const isIn = (object: JsonObject) => (name: string) => Object.hasOwn(object, name) && object[name] !== undefined;
  const [old, now] = [Object.keys(before).filter(isIn(before)), Object.keys(after).filter(isIn(after))];
  return [
    ...old.filter((name) => !isIn(after)(name)).map((name) => ({ op: "remove", path: at(name) }) as const),
    ...now
      .filter((name) => !isIn(before)(name))
      .map((name) => ({ op: "add", path: at(name), value: after[name] }) as const),
    ...old
      .filter((name) => isIn(after)(name) && before[name] !== after[name])
      .flatMap((name) => patchBetween(before[name], after[name], at(name))),
  ];
}

function patchLists(before: readonly unknown[], after: readonly unknown[], path: string): Operation[] {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && Bun.deepEquals(before[start], after[start])) start += 1;
  let alike = 0;
  while (alike < shorter - start && Bun.deepEquals(before.at(-1 - alike), after.at(-1 - alike))) alike += 1;
  const both = shorter - alike;
  const operations: Operation[] = [];
  for (let at = start; at < both; at += 1) {
    for (const operation of patchBetween(before[at], after[at], `${path}/${at}`)) operations.push(operation);
  }
  for (let at = both; at < after.length - alike; at += 1)
    operations.push({ op: "add", path: `${path}/${at}`, value: after[at] });
  for (let at = before.length - alike - 1; at >= both; at -= 1)
    operations.push({ op: "remove", path: `${path}/${at}` });
  return operations;
}
