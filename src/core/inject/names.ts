import { nearest } from "../cli/suggestion.ts";
import { isSidecar } from "../sidecars/containers.ts";
import { annotationField, type Pod } from "./pod.ts";
import type { Remark } from "./remark.ts";
import type { Wishes } from "./wishes.ts";

// Names of containers in annotations.

/**
 * Joins names with commas, for a sentence. If there are more than 20 (`MANY`), writes the first 20 and the number of
 * the others.
 */
export function joinNames(names: readonly string[]): string {
  return names.length <= MANY ? names.join(", ") : `${names.slice(0, MANY).join(", ")} and ${names.length - MANY} more`;
}

const MANY = 20;

/**
 * Returns a problem for each name in ebb.dev/containers (`named`) that no ordinary container of the pod has. An init
 * container's name is a problem, too.
 */
export function missingContainers(named: ReadonlySet<string>, { spec }: Pod): readonly Remark[] {
  const names = new Set(spec.containers.map(({ name }) => name));
  const inits = new Set((spec.initContainers ?? []).map(({ name }) => name));
  const field = annotationField("ebb.dev/containers");
  const there = joinNames([...names]);
  return [...named]
    .filter((name) => !names.has(name))
    .map((name) => {
      const what = inits.has(name)
        ? `"${name}" is an init container, which ebb never starts`
        : `there is no container "${name}"`;
      return { field, message: `${what}: this pod's containers are ${there}` };
    });
}

/**
 * Returns a warning for each name in ebb.dev/sidecars that no container has, because a sidecar whose name is mistyped
 * there would count as an app. Names of sidecars that ebb knows are not reported: an injector may add them later.
 */
export function unknownSidecars({ spec }: Pod, { sidecars }: Wishes): readonly Remark[] {
  const names = [...spec.containers, ...(spec.initContainers ?? [])].map(({ name }) => name);
  const there = new Set(names);
  const field = annotationField("ebb.dev/sidecars");
  return sidecars
    .filter((name) => !there.has(name) && !isSidecar(name, undefined))
    .map((name) => {
      const near = nearest(name, names);
      const hint = near === undefined ? "" : `; did you mean ${near}?`;
      return {
        field,
        message: `there is no container "${name}": this pod's containers are ${joinNames(names)}${hint}`,
      };
    });
}
