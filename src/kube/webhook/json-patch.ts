import { createPatch, type Operation } from "rfc6902";

/**
 * Returns the JSON Patch (RFC 6902) that turns one JSON value into another; empty if they are equal. Lists are compared
 * item by item, in order.
 */
export function patchBetween(before: unknown, after: unknown): Operation[] {
  return createPatch(before, after, (old, now, pointer) => {
    if (!Array.isArray(old) || !Array.isArray(now)) return undefined;
    const at = pointer.toString();
    return patchLists(old, now).map((operation) => ({ ...operation, path: at + operation.path }));
  });
}

/**
 * Returns the patch of a list, for lists that were added to, or whose items changed in place, as in a pod: what is
 * alike at both ends stays, and the rest is compared item by item. rfc6902's own way compares each item with each,
 * which a list of 100,000 makes a matter of hours, and may replace an item as a whole, with numbers in it that
 * JavaScript cannot hold.
 */
function patchLists(old: readonly unknown[], now: readonly unknown[]): Operation[] {
  const shorter = Math.min(old.length, now.length);
  let start = 0;
  while (start < shorter && Bun.deepEquals(old[start], now[start])) start += 1;
  let alike = 0;
  while (alike < shorter - start && Bun.deepEquals(old[old.length - 1 - alike], now[now.length - 1 - alike]))
    alike += 1;
  const [oldEnd, nowEnd] = [old.length - alike, now.length - alike];
  const operations: Operation[] = [];
  let index = start;
  for (; index < oldEnd && index < nowEnd; index += 1) {
    for (const operation of patchBetween(old[index], now[index])) {
      operations.push({ ...operation, path: `/${index}${operation.path}` });
    }
  }
  for (let added = index; added < nowEnd; added += 1) {
    operations.push({ op: "add", path: `/${added}`, value: now[added] });
  }
  for (let removed = oldEnd - 1; removed >= index; removed -= 1) operations.push({ op: "remove", path: `/${removed}` });
  return operations;
}
