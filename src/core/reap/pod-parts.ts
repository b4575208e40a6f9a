import { splitBy } from "../cli/syntax.ts";
import { isSidecar } from "../sidecars/containers.ts";
import { kindOf, sidecarNames } from "../sidecars/registry.ts";
import type { ContainerView, PodView } from "./pod-view.ts";

/** A pod's ordinary containers, sorted. */
export interface Parts {
  readonly apps: readonly ContainerView[];
  /** Without native sidecars, which the kubelet ends itself. */
  readonly sidecars: readonly ContainerView[];
}

/**
 * Sorts a pod's containers into apps and sidecars: by ebb.dev/sidecars, then by ebb.dev/containers, which names apps,
 * then by its injector's annotations or the containers' names and images.
 */
export function partsOf({ containers, annotations }: PodView): Parts {
  const given = new Set(splitBy(annotations.get("ebb.dev/sidecars") ?? "", ","));
  const wrapped = new Set(splitBy(annotations.get("ebb.dev/containers") ?? "", ","));
  const injected = new Set(sidecarNames.flatMap((name) => kindOf(name).injected?.(annotations) ?? []));
  const isBeside = ({ name, image }: ContainerView) =>
    given.has(name) || (!wrapped.has(name) && (injected.has(name) || isSidecar(name, image)));
  return { apps: containers.filter((each) => !isBeside(each)), sidecars: containers.filter(isBeside) };
}

/**
 * Reports whether an init container is a native sidecar (kubernetes pkg/api/v1/pod/util.go,
 * IsRestartableInitContainer).
 */
export function isNative({ restartPolicy }: ContainerView): boolean {
  return restartPolicy === "Always";
}
