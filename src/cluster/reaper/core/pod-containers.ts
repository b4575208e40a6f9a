import { coversExit, restartsByPolicy } from "../../../shared/core/restart.ts";
import { splitBy } from "../../../shared/core/text.ts";
import { kindOf, sidecarNames } from "../../../shared/sidecars/core/registry.ts";
import { isSidecar } from "../../core/containers.ts";
import type { ContainerView, PodView } from "./pod-view.ts";

/** A pod's ordinary containers, sorted. */
export interface Parts {
  readonly apps: readonly ContainerView[];
  /** Without native sidecars, which the kubelet ends itself. */
  readonly sidecars: readonly ContainerView[];
}

/**
 * Sorts a pod's containers into apps and sidecars: by ebb.dev/sidecars, then by ebb.dev/apps, which names apps,
 * then by its injector's annotations or the containers' names and images.
 */
export function sortContainers({ containers, annotations }: PodView): Parts {
  const given = new Set(splitBy(annotations.get("ebb.dev/sidecars") ?? "", ","));
  const wrapped = new Set(splitBy(annotations.get("ebb.dev/apps") ?? "", ","));
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

/**
 * Returns why the kubelet starts a container again after this exit code; undefined if it does not.
 *
 * Decides as the kubelet does (kubernetes pkg/api/v1/pod/util.go, ContainerShouldRestart): by the container's first
 * rule that matches, else its own policy, else the pod's. What this ebb does not know counts as a restart.
 */
export function restartAfter(exitCode: number, container: ContainerView, pod: PodView): string | undefined {
  const own = container.restartPolicy;
  if (own === undefined) return afterPolicy(exitCode, pod.restartPolicy, "restartPolicy");
  const rule = container.restartRules.find(
    ({ exitCodes }) => exitCodes === undefined || coversExit(exitCodes, exitCode),
  );
  return rule === undefined
    ? afterPolicy(exitCode, own, "its own restartPolicy")
    : `its restartPolicyRules: ${rule.action} after exit code ${exitCode}`;
}

function afterPolicy(exitCode: number, policy: string, whose: string): string | undefined {
  if (!restartsByPolicy(policy, exitCode)) return undefined;
  return policy === "OnFailure" ? `${whose} OnFailure, exit code ${exitCode}` : `${whose} ${policy}`;
}
