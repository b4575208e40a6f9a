import { listOf, objectOf } from "../../../../shared/core/json.ts";
import { kindOf, sidecarNames } from "../../../../shared/sidecars/core/registry.ts";
import type { Orchestrator } from "../orchestrators/orchestrator.ts";
import type { Container, Pod } from "../pod.ts";
import type { PodAnnotations } from "../pod-annotations.ts";
import type { ContainerFacts, SeenContainer } from "./container-facts.ts";

/** Which containers of a pod become native sidecars. */
export interface Moves {
  /** Those that do, in the order in which they will start. */
  readonly moved: ReadonlySet<SeenContainer>;
  /** Why others that were wanted stay ordinary, by their names. */
  readonly kept: ReadonlyMap<string, string>;
  /** Why sidecars cannot become native, wanted or not, by their names. */
  readonly ordinary: ReadonlyMap<string, string>;
}

/** What decides which containers become native. */
interface MoveFacts {
  readonly pod: Pod;
  readonly orchestrator: Orchestrator | undefined;
  readonly requested: PodAnnotations;
  readonly containers: readonly ContainerFacts[];
}

/**
 * Decides which containers become native: those that ebb.dev/sidecars names, in its order, and those that ebb knows if the
 * pod wants that; none if the pod has no app.
 */
export function movesOf({ pod, orchestrator, requested, containers }: MoveFacts): Moves {
  const moved = new Set<SeenContainer>();
  const kept = new Map<string, string>();
  const ordinary = new Map<string, string>();
  const firstApp = containers.findIndex(({ role }) => role !== "sidecar");
  const injected = injectedIn(pod);
  for (const { name, container, at, role } of containers) {
    if (role !== "sidecar") continue;
    const why = whyOrdinary(container, {
      pod,
      orchestrator,
      isInjected: injected.has(name),
      isAfterApp: at > firstApp,
    });
    if (why !== undefined) ordinary.set(name, why);
  }
  if (firstApp < 0 || requested.native === "none") return { moved, kept, ordinary };
  const byName = new Map(containers.map((one) => [one.name, one]));
  const named = [...requested.sidecars].flatMap((name) => byName.get(name) ?? []);
  const recognized = containers.filter(
    ({ role, isKnownSidecar, hasSidecarImage }) => role === "sidecar" && (isKnownSidecar || hasSidecarImage),
  );
  for (const one of new Set(requested.native === "all" ? [...named, ...recognized] : named)) {
    const { name } = one;
    const why = ordinary.get(name);
    if (why === undefined) moved.add(one);
    else if (!injected.has(name) || requested.sidecars.has(name)) kept.set(name, why);
  }
  return { moved, kept, ordinary };
}

/** What a container's place in its pod is. */
interface Standing extends Pick<MoveFacts, "pod" | "orchestrator"> {
  readonly isInjected: boolean;
  readonly isAfterApp: boolean;
}

/** Returns why a container cannot be native; undefined if it can. */
function whyOrdinary(
  container: Container,
  { pod, orchestrator, isInjected, isAfterApp }: Standing,
): string | undefined {
  if (orchestrator?.roleIn(container, pod) !== undefined)
    return `${orchestrator.name} looks for it among the pod's containers`;
  if (isInjected) return "its injector added it: let the injector make it native";
  if (container.restartPolicy != null) return "it has a restartPolicy of its own";
  // kubernetes v1.36.3 pkg/kubelet/kuberuntime/kuberuntime_sandbox.go:117
  if (pod.spec.hostNetwork !== true && listOf(container.ports).some((port) => objectOf(port).hostPort != null))
    return "the kubelet opens a hostPort only for an ordinary container; take it out if nobody needs it";
  if (isAfterApp && container.lifecycle?.postStart != null)
    return "its postStart hook may wait for the app, which starts only when the hook of a native sidecar has ended; put it before the app's container if it does not";
  return undefined;
}

/** Returns the names of the containers that injectors have added, as their annotations say. */
function injectedIn({ metadata }: Pod): ReadonlySet<string> {
  const annotations = new Map(Object.entries(metadata?.annotations ?? {}));
  return new Set(sidecarNames.flatMap((name) => kindOf(name).injected?.(annotations) ?? []));
}
