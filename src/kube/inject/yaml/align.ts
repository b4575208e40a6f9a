import { diffArrays } from "diff";
import { isObject } from "../../../core/base/json.ts";

/**
 * Returns for each item of a newer list its index in the older one; undefined if it is new. Items are matched as
 * Kubernetes does: by name, mounts by mountPath, objects by kind, namespace and name, others if they are equal. If n
 * items replace n others in one place, they are matched by position.
 */
export function alignItems(before: readonly unknown[], after: readonly unknown[]): readonly (number | undefined)[] {
  const rows: (number | undefined)[] = [];
  let at = 0;
  let removed = 0;
  for (const chunk of diffArrays(before.map(identity), after.map(identity))) {
    const { count = chunk.value.length } = chunk;
    if (chunk.removed) {
      at += count;
      removed = count;
      continue;
    }
    const isSwap = chunk.added && removed === count;
    for (let each = 0; each < count; each += 1) {
      rows.push(chunk.added ? (isSwap ? at - count + each : undefined) : at + each);
    }
    if (!chunk.added) at += count;
    removed = 0;
  }
  return rows;
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
