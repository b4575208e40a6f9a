import { isHelperImage } from "../helper-images.ts";
import type { Orchestrator, Role } from "../orchestrators/orchestrator.ts";
import { roleIn } from "../orchestrators/registry.ts";
import type { Container, Pod } from "../pod.ts";
import type { PodAnnotations } from "../pod-annotations.ts";
import { pathAsked } from "./existing-hooks.ts";

/** What decides the roles of a pod's containers. */
export interface RoleRules {
  readonly pod: Pod;
  readonly orchestrator: Orchestrator | undefined;
  readonly requested: Pick<PodAnnotations, "apps" | "sidecars">;
}

/** What a container is, and whether that follows from its image, or from nothing at all. */
export interface DecidedRole {
  readonly role: Role;
  readonly by: "rule" | "helper image" | "default";
}

/**
 * Returns what the containers of a pod are: as the pod's annotations say, else as ebb knows them by name, image or command
 * (`isSidecar`), else as the orchestrator of the pod has it. Where a pod ends, images of `helperImages` are sidecars, if
 * another container is left. All others are apps.
 *
 * In a server they stay apps: a proxy such as oauth2-proxy serves requests until it has drained.
 */
export function rolesOf(rules: RoleRules, isSidecar: (container: Container) => boolean): readonly DecidedRole[] {
  const { containers, restartPolicy } = rules.pod.spec;
  const ruled = containers.map((container) => ruledRole(container, isSidecar(container), rules));
  const mayHelp = containers.map(({ image }, at) => ruled[at] === undefined && isHelperImage(image ?? ""));
  const ends = (restartPolicy ?? "Always") !== "Always";
  const hasApp = ruled.some((role, at) => role !== "sidecar" && mayHelp[at] === false);
  return ruled.map((role, at) => {
    if (role !== undefined) return { role, by: "rule" };
    return ends && hasApp && mayHelp[at] === true
      ? { role: "sidecar", by: "helper image" }
      : { role: "app", by: "default" };
  });
}

function ruledRole(
  container: Container,
  isSidecar: boolean,
  { pod, orchestrator, requested }: RoleRules,
): Role | undefined {
  const { name } = container;
  if (requested.sidecars.has(name)) return "sidecar";
  if (requested.apps.has(name)) return "app";
  if (isSidecar || pathAsked(container) !== undefined) return "sidecar";
  return roleIn(pod, container, orchestrator);
}
