import type { Role } from "../orchestrators/orchestrator.ts";
import type { Container } from "../pod.ts";
import type { ShownSidecar } from "./shown-sidecars.ts";
import type { Start } from "./start.ts";

/** What an ordinary container of a pod shows by itself. */
export interface SeenContainer {
  readonly container: Container;
  readonly name: string;
  /** Its index in spec.containers. */
  readonly at: number;
  /** Whether it is, by its name or image, a sidecar that ebb knows. */
  readonly isKnownSidecar: boolean;
  /** Whether its image is one of `sidecarImages`. */
  readonly hasSidecarImage: boolean;
  /** Which sidecar it is, and what its arguments show of it; undefined also for known ones that need no waiting. */
  readonly sidecar: ShownSidecar | undefined;
  /** The path at which its whole command asks a sidecar to quit. */
  readonly pathAsked: string | undefined;
}

/** What a container is, and whether it is so only because nothing tells otherwise. */
export interface DecidedRole {
  readonly role: Role;
  readonly isDefault: boolean;
}

/** What is known of an ordinary container of a pod. */
export interface ContainerFacts extends SeenContainer, DecidedRole {
  /** How it starts from now on; undefined for a sidecar. */
  readonly start: Start | undefined;
}

/** A container that is no sidecar, and runs no other command of ebb's (`ebb sleep`), whether ebb can start it or not. */
export interface AppContainer extends Pick<ContainerFacts, "container" | "name" | "at"> {
  readonly role: Exclude<Role, "sidecar">;
  readonly start: Exclude<Start, { readonly kind: "ebb-command" }>;
}
