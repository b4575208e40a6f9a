import type { Role } from "../orchestrators/orchestrator.ts";
import type { Container } from "../pod.ts";
import type { Start } from "./start.ts";

/** What is known of an ordinary container of a pod. */
export interface ContainerFacts {
  readonly container: Container;
  readonly name: string;
  /** Its index in spec.containers. */
  readonly at: number;
  /** Whether it is, by its name or image, a sidecar that ebb knows. */
  readonly isKnown: boolean;
  readonly role: Role;
  /** The role that it would have without ebb.dev/apps and ebb.dev/sidecars. */
  readonly ownRole: Role;
  /** How it starts from now on; undefined for a sidecar. */
  readonly start: Start | undefined;
}

/** A container that is an app or its helper, and starts a command. */
export interface StartedContainer extends Pick<ContainerFacts, "container" | "name" | "at"> {
  readonly role: Exclude<Role, "sidecar">;
  readonly start: Exclude<Start, { readonly kind: "ebb-command" }>;
}
