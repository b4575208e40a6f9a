import { isProxy } from "../../../../shared/sidecars/core/registry.ts";
import { annotationsVolume } from "../apps/annotations-file.ts";
import { type App, runsEbb } from "../apps/app.ts";
import { hasOwnProxy } from "../apps/sidecar-options.ts";
import type { Edit } from "../edits/edit.ts";
import { hasVariable } from "../facts/env.ts";
import type { PodFacts } from "../facts/facts.ts";
import { variableOf } from "../pod-annotations.ts";
import type { Concern, Note } from "./concern.ts";
import { volumeEdit } from "./install.ts";

/** Each ebb is told its options by variables, and finds the pod's annotations in a file. */
export const options: Concern = (facts, apps) => {
  const withEbb = apps.filter(runsEbb);
  const isMounted = withEbb.some(({ annotationsFile }) => annotationsFile?.mount !== undefined);
  return {
    edits: [
      ...(isMounted ? [volumeEdit(annotationsVolume(facts.volumes.annotations), facts)] : []),
      ...withEbb.flatMap(editsOf),
    ],
    warnings: [
      ...apps.flatMap((app) => [...warnOfOwn(app), ...warnOfNoProxy(app, facts)]),
      ...warnOfUnnamed(withEbb, facts),
      ...warnOfUnwaited(withEbb, facts),
    ],
  };
};

function editsOf({ name: container, variables, annotationsFile }: App): readonly Edit[] {
  const mount = annotationsFile?.mount;
  return [
    ...variables.map((one) => ({ kind: "variable", container, ...one }) as const),
    ...(mount === undefined ? [] : [{ kind: "mount", container, mount } as const]),
  ];
}

/** Returns a warning for each annotation over which the container's own variable wins. */
function warnOfOwn({ name, container, options, given }: App): readonly Note[] {
  const isOwn = (flag: string) => given.annotated.has(flag) && hasVariable(container, variableOf(flag));
  const flags = [...options.keys()].filter(isOwn);
  return flags.map((flag) => {
    const message = `it sets ${variableOf(flag)} itself, which wins over the annotation ebb.dev/${flag}`;
    return { container: name, field: "env", message };
  });
}

/** Returns a warning for a pod on its node's network in which nothing names a proxy. */
function warnOfNoProxy({ looksForSidecars, evidence, options, unnamed }: App, facts: PodFacts): readonly Note[] {
  const isSaid = unnamed.some(isProxy);
  if (isSaid || !looksForSidecars || !facts.isOnNode || hasOwnProxy(evidence, facts, options)) return [];
  const message =
    "ebb does not rely on ports on the node's network, and nothing names the pod's proxy and its port, so it finds none, and drains none: set ebb.dev/sidecar or ebb.dev/admin";
  return [{ field: "spec.hostNetwork", message }];
}

/** Returns a warning for each sidecar that is left out on the node's network, because nothing names its address. */
function warnOfUnnamed(apps: readonly App[], { sidecars }: PodFacts): readonly Note[] {
  const names = new Set(apps.flatMap(({ unnamed }) => unnamed));
  return [...names].map((name) => {
    const shown = sidecars.find((one) => one.name === name);
    const who = shown === undefined ? name : `"${shown.container}" (${name})`;
    const admin = isProxy(name) ? ", or ebb.dev/admin" : "";
    const message = `ebb leaves out ${who}: nothing names its address, and on the node's network its usual ports may be another pod's; set ebb.dev/sidecar: ${name}:PORT${admin}`;
    return { field: "spec.hostNetwork", message };
  });
}

/** Returns a warning for each sidecar that nothing waits for, because nothing shows where it listens. */
function warnOfUnwaited(apps: readonly App[], { containers, moves }: PodFacts): readonly Note[] {
  const names = new Set(apps.flatMap(({ start, unwaited }) => (start.kind === "wrapped" ? unwaited : [])));
  return [...names].map((container) => {
    const isOrdinary = containers.some((one) => one.name === container && !moves.moved.has(one));
    const probe = isOrdinary ? "" : "give it a startupProbe, or ";
    const message = `nothing waits for "${container}", because nothing shows where it listens: if the app needs it from the start, ${probe}set ebb.dev/ready to its address`;
    return { container, field: "", message };
  });
}
