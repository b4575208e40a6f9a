import type { Orchestrator, Role } from "../orchestrators/orchestrator.ts";
import { roleIn } from "../orchestrators/registry.ts";
import type { Pod } from "../pod.ts";
import type { PodAnnotations } from "../pod-annotations.ts";
import type { DecidedRole, SeenContainer } from "./container-facts.ts";
import { restartsAlways } from "./restart.ts";

/** What decides the roles of a pod's containers. */
interface RoleRules {
  readonly pod: Pod;
  readonly orchestrator: Orchestrator | undefined;
  readonly requested: Pick<PodAnnotations, "apps" | "sidecars" | "own" | "entrypoints">;
}

/**
 * Returns what the containers of a pod are: as the pod's annotations say, else as ebb knows them by name or image, or
 * because their command only asks a sidecar to quit, else as the orchestrator of the pod has it. Where a pod ends, images of
 * `sidecarImages` are sidecars, if another container is left. All others are apps.
 *
 * In a server, containers with such images stay apps: a proxy such as oauth2-proxy serves requests until it has drained.
 */
export function rolesOf(seen: readonly SeenContainer[], rules: RoleRules): readonly DecidedRole[] {
  const ruled = seen.map((one) => ruledRole(one, rules));
  const isByImage = seen.map(({ hasSidecarImage }, at) => ruled[at] === undefined && hasSidecarImage);
  const hasApp = ruled.some((role, at) => role !== "sidecar" && isByImage[at] === false);
  return ruled.map((role, at) => {
    if (role !== undefined) return { role, isDefault: false };
    const isSidecar = !restartsAlways(rules.pod) && hasApp && isByImage[at] === true;
    return isSidecar ? { role: "sidecar", isDefault: false } : { role: "app", isDefault: true };
  });
}

function ruledRole(one: SeenContainer, { pod, orchestrator, requested }: RoleRules): Role | undefined {
  if (requested.sidecars.has(one.name)) return "sidecar";
  if (requested.apps.has(one.name)) return "app";
  if (one.isKnownSidecar || one.pathAsked !== undefined) return "sidecar";
  // an annotation of its own says that ebb is to start it
  const isSaid = requested.own.has(one.name) || requested.entrypoints.has(one.name);
  return roleIn(pod, one.container, orchestrator) ?? (isSaid ? "app" : undefined);
}
