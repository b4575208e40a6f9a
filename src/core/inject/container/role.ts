import { isSidecar } from "../../sidecars/containers.ts";
import { pathAsked } from "../by-hand.ts";
import type { Role } from "../orchestrators/orchestrator.ts";
import { roleIn } from "../orchestrators/registry.ts";
import type { Container, Pod } from "../pod.ts";
import type { PodAnnotations } from "../pod-annotations.ts";

/**
 * Returns what a container is: as the pod's annotations say, else as ebb knows it by its name, image or command, else as
 * the orchestrator of the pod has it, else an app.
 */
export function roleOf(
  pod: Pod,
  container: Container,
  { apps, sidecars }: Pick<PodAnnotations, "apps" | "sidecars">,
): Role {
  const { name, image } = container;
  if (sidecars.has(name)) return "sidecar";
  if (apps.has(name)) return "app";
  if (isSidecar(name, image ?? undefined) || pathAsked(container) !== undefined) return "sidecar";
  return roleIn(pod, container) ?? "app";
}
