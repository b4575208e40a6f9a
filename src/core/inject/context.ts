import type { Surroundings } from "./container/network.ts";
import type { VolumeNames, Volumes } from "./container/volumes.ts";
import type { Pod } from "./pod.ts";
import type { InjectPolicy } from "./policy.ts";
import type { FormerSettings } from "./status.ts";
import type { Wishes } from "./wishes.ts";

/** What is planned for all containers of a pod alike. */
export interface Context {
  readonly pod: Pod;
  readonly told: InjectRequest;
  readonly surroundings: Surroundings;
  readonly names: VolumeNames;
  readonly volumes: Volumes;
}

export interface InjectRequest {
  readonly wishes: Wishes;
  readonly policy: InjectPolicy;
  readonly known: FormerSettings;
}
