import { foundIn } from "../sidecars/plan.ts";
import { isProxy, kindOf, sidecarNames } from "../sidecars/registry.ts";
import type { Surroundings } from "./container/network.ts";
import { orchestratorOf } from "./orchestrators/registry.ts";
import type { Pod, Remark } from "./pod.ts";

/**
 * Returns a warning for each init container of an orchestrator that needs the mesh, in a pod whose proxy is an ordinary
 * container, and so starts only after it.
 */
export function warnOfInits(pod: Pod, { sidecars }: Surroundings): readonly Remark[] {
  const orchestrator = orchestratorOf(pod);
  const proxy = sidecars.find(({ name, at }) => at !== undefined && isProxy(name));
  if (orchestrator?.needsMesh === undefined || proxy === undefined) return [];
  return (pod.spec.initContainers ?? []).flatMap((container, at) => {
    if (orchestrator.needsMesh?.(container, pod) !== true) return [];
    const message = `"${container.name}" of ${orchestrator.name} runs before "${proxy.container}" starts: only a native sidecar serves it`;
    return [{ field: `spec.initContainers[${at}]`, message }];
  });
}

/**
 * Adds the annotations that keep a pod's orchestrator from stopping the sidecars that ebb quits: it would do so when its
 * main containers have ended, while a helper still needs them. The user's own stay.
 */
export function spareSidecars(pod: Pod, surroundings: Surroundings): void {
  const spare = orchestratorOf(pod)?.spare;
  if (spare === undefined) return;
  const annotations = pod.metadata?.annotations ?? {};
  const names = ordinarySidecars(pod, surroundings).map((container) => `${spare.prefix}${container}`);
  const added = names.filter((name) => annotations[name] === undefined).map((name) => [name, spare.value]);
  if (added.length > 0)
    pod.metadata = { ...pod.metadata, annotations: { ...annotations, ...Object.fromEntries(added) } };
}

/** Returns the names of the ordinary sidecars that ebb quits: the manifest shows them, or an injector's annotation. */
function ordinarySidecars({ spec }: Pod, { sidecars, annotations }: Surroundings): readonly string[] {
  const shown = sidecars.filter(({ at, problem }) => at !== undefined && problem === undefined);
  const ordinary = foundIn({ env: {}, annotations }, sidecarNames).filter(({ isNative }) => !isNative);
  const injected = ordinary.flatMap(({ name }) => kindOf(name).injected?.(annotations) ?? []);
  const natives = (spec.initContainers ?? []).map(({ name }) => name);
  return [...shown.map(({ container }) => container), ...injected].filter((name) => !natives.includes(name));
}
