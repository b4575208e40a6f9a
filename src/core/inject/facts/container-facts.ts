import type { Role } from "../orchestrators/orchestrator.ts";
import type { Container } from "../pod.ts";
import type { DecidedRole } from "./role.ts";
import type { Start } from "./start.ts";

/** What is known of an ordinary container of a pod. */
export interface ContainerFacts {
  readonly container: Container;
  readonly name: string;
  /** Its index in spec.containers. */
  readonly at: number;
  /** Whether it is, by its name or image, a sidecar that ebb knows. */
  readonly isKnownSidecar: boolean;
  readonly role: Role;
  readonly roleBy: DecidedRole["by"];
  /** The role that it would have without ebb.dev/apps and ebb.dev/sidecars. */
  readonly ownRole: Role;
  /** How it starts from now on; undefined for a sidecar. */
  readonly start: Start | undefined;
}

/** A container that is no sidecar, and runs no other command of ebb's (`ebb sleep`), whether ebb can start it or not. */
export interface AppContainer extends Pick<ContainerFacts, "container" | "name" | "at"> {
  readonly role: Exclude<Role, "sidecar">;
  readonly start: Exclude<Start, { readonly kind: "ebb-command" }>;
}
