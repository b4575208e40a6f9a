import { shortened } from "../../../shared/core/text.ts";
import type { Note } from "./concerns/concern.ts";
import { MOST_REMARKS, type Pod, type Remark } from "./pod.ts";

/** Returns a function that makes a note a remark: its container becomes a field of the pod that was given. */
export function toRemarkIn({ spec }: Pod): (note: Note) => Remark {
  const lists = ["containers", "initContainers"] as const;
  const paths = new Map<string, string>();
  for (const list of lists)
    for (const [at, { name }] of (spec[list] ?? []).entries())
      if (!paths.has(name)) paths.set(name, `spec.${list}[${at}]`);
  return ({ container, field, message }) => {
    if (container === undefined) return { field, message };
    return { field: [paths.get(container), field].filter((part) => part !== "").join("."), message };
  };
}

/** Returns remarks, each once. */
export function distinct(remarks: readonly Remark[]): readonly Remark[] {
  return [...new Map(remarks.map((remark) => [`${remark.field}: ${remark.message}`, remark])).values()];
}

const LONGEST_MESSAGE = 4000;

/** Returns the first remarks, shortened: their number and length are up to the authors of pods. */
export function firstRemarks(remarks: readonly Remark[]): readonly Remark[] {
  const first = remarks.slice(0, MOST_REMARKS).map(({ field, message }) => ({
    field: shortened(field, LONGEST_MESSAGE),
    message: shortened(message, LONGEST_MESSAGE),
  }));
  const left = remarks.length - first.length;
  return left === 0 ? first : [...first, { field: "metadata", message: `and ${left} more, which are not listed` }];
}
