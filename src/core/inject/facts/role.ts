import type { Orchestrator, Role } from "../orchestrators/orchestrator.ts";
import { roleIn } from "../orchestrators/registry.ts";
import type { Container, Pod } from "../pod.ts";
import type { PodAnnotations } from "../pod-annotations.ts";
import { pathAsked } from "./existing-hooks.ts";

/** What decides the role of a pod's containers. */
export interface RoleRules {
  readonly pod: Pod;
  readonly orchestrator: Orchestrator | undefined;
  readonly requested: Pick<PodAnnotations, "apps" | "sidecars">;
}

/**
 * Returns what a container is: as the pod's annotations say, else as ebb knows it by its name, image (`isKnown`) or
 * command, else as the orchestrator of the pod has it, else an app.
 */
export function roleOf(container: Container, isKnown: boolean, { pod, orchestrator, requested }: RoleRules): Role {
  const { name } = container;
  if (requested.sidecars.has(name)) return "sidecar";
  if (requested.apps.has(name)) return "app";
  if (isKnown || pathAsked(container) !== undefined) return "sidecar";
  return roleIn(pod, container, orchestrator) ?? "app";
}
