import { isHelperImage } from "../helper-images.ts";
import type { Orchestrator, Role } from "../orchestrators/orchestrator.ts";
import { roleIn } from "../orchestrators/registry.ts";
import type { Pod } from "../pod.ts";
import type { PodAnnotations } from "../pod-annotations.ts";
import type { DecidedRole, SeenContainer } from "./container-facts.ts";

/** What decides the roles of a pod's containers. */
export interface RoleRules {
  readonly pod: Pod;
  readonly orchestrator: Orchestrator | undefined;
  readonly requested: Pick<PodAnnotations, "apps" | "sidecars">;
}

/**
 * Returns what the containers of a pod are: as the pod's annotations say, else as ebb knows them by name, image or command,
 * else as the orchestrator of the pod has it. Where a pod ends, images of `helperImages` are sidecars, if another container
 * is left. All others are apps.
 *
 * In a server they stay apps: a proxy such as oauth2-proxy serves requests until it has drained.
 */
export function rolesOf(seen: readonly SeenContainer[], rules: RoleRules): readonly DecidedRole[] {
  const ruled = seen.map((one) => ruledRole(one, rules));
  const mayHelp = seen.map(({ container }, at) => ruled[at] === undefined && isHelperImage(container.image ?? ""));
  const ends = (rules.pod.spec.restartPolicy ?? "Always") !== "Always";
  const hasApp = ruled.some((role, at) => role !== "sidecar" && mayHelp[at] === false);
  return ruled.map((role, at) => {
    if (role !== undefined) return { role, roleBy: "rule" };
    if (ends && hasApp && mayHelp[at] === true) return { role: "sidecar", roleBy: "helper image" };
    return { role: "app", roleBy: "default" };
  });
}

function ruledRole(one: SeenContainer, { pod, orchestrator, requested }: RoleRules): Role | undefined {
  if (requested.sidecars.has(one.name)) return "sidecar";
  if (requested.apps.has(one.name)) return "app";
  if (one.isKnownSidecar || one.pathAsked !== undefined) return "sidecar";
  return roleIn(pod, one.container, orchestrator);
}
