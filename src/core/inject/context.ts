import type { Surroundings } from "./container/network.ts";
import type { VolumeNames, Volumes } from "./container/volumes.ts";
import type { Pod } from "./pod.ts";
import type { InjectPolicy } from "./policy.ts";
import type { FormerSettings } from "./status.ts";
import type { Wishes } from "./wishes.ts";

/** What is decided for a pod as a whole before its containers are planned one by one. */
export interface Context {
  readonly pod: Pod;
  /** The pod's annotations, the policy and the former settings. */
  readonly told: InjectRequest;
  readonly surroundings: Surroundings;
  /** The names of the volumes that ebb adds. */
  readonly names: VolumeNames;
  /** The volumes that the pod has already. */
  readonly volumes: Volumes;
}

/** What decides how a pod is changed: its annotations, the policy, and what an earlier injection recorded. */
export interface InjectRequest {
  readonly wishes: Wishes;
  readonly policy: InjectPolicy;
  readonly known: FormerSettings;
}
