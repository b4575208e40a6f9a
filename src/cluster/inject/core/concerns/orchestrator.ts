import { foundIn } from "../../../../shared/sidecars/core/plan.ts";
import { isProxy, kindOf, sidecarNames } from "../../../../shared/sidecars/core/registry.ts";
import { runsEbb } from "../apps/app.ts";
import { lastQuits } from "../apps/quits.ts";
import type { Edit } from "../edits/edit.ts";
import type { PodFacts } from "../facts/facts.ts";
import type { Concern, Note } from "./concern.ts";

/** An orchestrator leaves the sidecars to ebb, and its init containers have the mesh that they need. */
export const orchestrator: Concern = (facts, apps) => {
  const withEbb = apps.filter(runsEbb);
  return { edits: lastQuits(withEbb, facts.pod) ? exemptSidecars(facts) : [], warnings: warnOfInits(facts) };
};

/**
 * Returns a warning for each init container of an orchestrator that needs the mesh, in a pod whose proxy is an ordinary
 * container, and so starts only after it.
 */
function warnOfInits({ pod, orchestrator, sidecars }: PodFacts): readonly Note[] {
  const proxy = sidecars.find(({ name, at }) => at !== undefined && isProxy(name));
  if (orchestrator?.needsMesh === undefined || proxy === undefined) return [];
  return (pod.spec.initContainers ?? []).flatMap((container) => {
    if (orchestrator.needsMesh?.(container, pod) !== true) return [];
    const message = `"${container.name}" of ${orchestrator.name} runs before "${proxy.container}" starts: only a native sidecar serves it`;
    return [{ container: container.name, field: "", message }];
  });
}

/**
 * Returns the annotations that keep a pod's orchestrator from stopping the sidecars that ebb quits: it would do so when its
 * main containers have ended, while a helper still needs them. The user's own stay.
 */
function exemptSidecars(facts: PodFacts): readonly Edit[] {
  const exemption = facts.orchestrator?.exemption;
  if (exemption === undefined) return [];
  const annotations = facts.pod.metadata?.annotations ?? {};
  const names = ordinarySidecars(facts).map((container) => `${exemption.prefix}${container}`);
  const added = new Set(names.filter((name) => annotations[name] === undefined));
  return [...added].map((name) => ({ kind: "annotation", name, value: exemption.value }));
}

/** Returns the names of the ordinary sidecars that ebb quits: the manifest shows them, or an injector's annotation. */
function ordinarySidecars({ pod: { spec }, moves, sidecars, annotations }: PodFacts): readonly string[] {
  const shown = sidecars.filter(({ at, problem }) => at !== undefined && problem === undefined);
  const ordinary = foundIn({ env: {}, annotations }, sidecarNames).filter(({ isNative }) => !isNative);
  const injected = ordinary.flatMap(({ name }) => kindOf(name).injected?.(annotations) ?? []);
  const natives = new Set([...(spec.initContainers ?? []), ...moves.moved].map(({ name }) => name));
  return [...shown.map(({ container }) => container), ...injected].filter((name) => !natives.has(name));
}
