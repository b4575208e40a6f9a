import { nearest } from "../../../../shared/cli/core/suggestion.ts";
import { joinNames } from "../../../../shared/core/wording.ts";
import { isSidecar } from "../../../core/containers.ts";
import { annotationField } from "../annotation-names.ts";
import type { ContainerFacts } from "../facts/container-facts.ts";
import type { PodFacts } from "../facts/facts.ts";
import { MOST_REMARKS } from "../pod.ts";
import type { Concern, Note } from "./concern.ts";

/** Annotations name containers that are there, and one of those is an app. */
export const names: Concern = (facts) => {
  const absent = missingApps(facts);
  const nonSidecars = facts.containers.filter(({ role }) => role !== "sidecar");
  const nothing = nonSidecars.length === 0 && absent.length === 0 ? [nothingToStart(facts)] : [];
  return { problems: [...absent, ...nothing, ...strayNames(nonSidecars, facts)], warnings: unknownSidecars(facts) };
};

function nothingToStart({ containers, requested: { sidecars } }: PodFacts): Note {
  const all = containers.map(({ name }) => name);
  const listed = all.filter((name) => sidecars.has(name));
  const how =
    listed.length > 0
      ? `take the app out of ebb.dev/sidecars (${joinNames(listed)})`
      : "if one of them is the app, name it in ebb.dev/apps";
  return { field: "spec.containers", message: `there are only sidecars here (${joinNames(all)}): ${how}` };
}

/** Returns a problem for each annotation of a container that ebb does not start. */
function strayNames(
  nonSidecars: readonly ContainerFacts[],
  { requested: { own, entrypoints } }: PodFacts,
): readonly Note[] {
  const names = nonSidecars.map(({ name }) => name);
  const chosen = new Set(names);
  const options = [...own].flatMap(([name, flags]) => [...flags.keys()].map((flag) => [name, flag] as const));
  const annotated = [...options, ...[...entrypoints.keys()].map((name) => [name, "entrypoint"] as const)];
  return annotated
    .filter(([name]) => !chosen.has(name))
    .map(([name, key]) => ({
      field: annotationField(`ebb.dev/${key}.${name}`),
      message: `ebb does not start a container "${name}"; it starts ${joinNames(names) || "none"}`,
    }));
}

/**
 * Returns a problem for each name in ebb.dev/apps that no ordinary container of the pod has, or that ebb.dev/sidecars has,
 * too.
 */
function missingApps({ pod, containers, moves, requested: { apps, sidecars } }: PodFacts): readonly Note[] {
  const ordinary = containers.filter((one) => !moves.moved.has(one)).map(({ name }) => name);
  const names = new Set(ordinary);
  const inits = new Set([...(pod.spec.initContainers ?? []), ...moves.moved].map(({ name }) => name));
  const whatIs = (name: string) =>
    inits.has(name) ? `"${name}" is an init container, which ebb never starts` : `there is no container "${name}"`;
  const messageOn = (name: string) => {
    if (sidecars.has(name)) return `"${name}" is in ebb.dev/sidecars, too`;
    return names.has(name) ? undefined : `${whatIs(name)}: this pod's containers are ${joinNames([...names])}`;
  };
  return [...apps].flatMap((name) => {
    const message = messageOn(name);
    return message === undefined ? [] : [{ field: annotationField("ebb.dev/apps"), message }];
  });
}

/**
 * Returns a warning for each name in ebb.dev/sidecars that no container has, because a sidecar whose name is mistyped
 * there would count as an app. Names of sidecars that ebb knows are not reported: an injector may add them later.
 */
function unknownSidecars({ pod: { spec }, requested: { sidecars } }: PodFacts): readonly Note[] {
  const names = [...spec.containers, ...(spec.initContainers ?? [])].map(({ name }) => name);
  const there = new Set(names);
  const hintFor = (name: string) => {
    const near = nearest(name, names);
    return near === undefined ? "" : `; did you mean ${near}?`;
  };
  return [...sidecars]
    .filter((name) => !there.has(name) && !isSidecar(name, undefined))
    .slice(0, MOST_REMARKS + 1) // each is compared with all names
    .map((name) => ({
      field: annotationField("ebb.dev/sidecars"),
      message: `there is no container "${name}": this pod's containers are ${joinNames(names)}${hintFor(name)}`,
    }));
}
