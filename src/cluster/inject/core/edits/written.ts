import { listOf, objectOf, type Path, textOf, valueAt } from "../../../../shared/core/json.ts";
import { STATUS } from "../annotation-names.ts";
import type { Container, Pod } from "../pod.ts";
import { addedTo, type Empty, readStatus } from "./status.ts";

/** A text of a manifest, and the path in the pod to the field that it stands for. */
type Written = readonly [path: Path, text: string];

/** Returns how a pod's manifest had the fields in which nothing was before ebb added to them, as ebb.dev/status says. */
export function writtenIn(pod: unknown): readonly Written[] {
  const { metadata, spec } = objectOf(pod);
  const status = readStatus(textOf(objectOf(objectOf(metadata).annotations)[STATUS]));
  if (status === undefined || "field" in status) return [];
  const ofContainers = listOf(objectOf(spec).containers).flatMap((container, at) => {
    const name = textOf(objectOf(container).name) ?? "";
    const empty = Object.hasOwn(status.containers, name) ? status.containers[name]?.empty : undefined;
    return textsIn(empty, addedTo.container).map(
      ([path, text]) => [["spec", "containers", at, ...path], text] as const,
    );
  });
  return [...textsIn(status.empty, addedTo.pod), ...ofContainers];
}

function textsIn(empty: Empty, fields: readonly Path[]): readonly Written[] {
  return fields.flatMap((path) => {
    const text = textOf(empty?.[String(path.at(-1))]);
    return text === undefined ? [] : [[path, text] as const];
  });
}

/** Returns how a manifest has an empty field of a pod, where ebb would write it otherwise. */
export type TextAt = (path: Path) => string | undefined;

/** Returns the fields that are there with nothing in them; undefined if there are none. */
export function emptyIn(before: Pod | Container, fields: readonly Path[], textAt: TextAt): Empty {
  const found = fields.filter((path) => isEmpty(valueAt(before, path)));
  if (found.length === 0) return undefined;
  return Object.fromEntries(found.map((path) => [path.at(-1), textAt(path) ?? valueAt(before, path)]));
}

function isEmpty(value: unknown): boolean {
  return value === null || (typeof value === "object" && Object.keys(value).length === 0);
}
