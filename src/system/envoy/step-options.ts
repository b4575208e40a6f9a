import type { InFlight } from "../../core/envoy/in-flight.ts";
import type { Sidecar } from "../../core/sidecars/sidecar.ts";
import type { Log } from "../output/log.ts";
import type { EnvoyAdmin } from "./admin.ts";

/** What all steps of one Envoy's drain need. */
export interface StepOptions {
  readonly sidecar: Sidecar["name"];
  readonly envoy: NonNullable<Sidecar["envoy"]>;
  readonly admin: EnvoyAdmin;
  readonly log: Log;
  /** Called after each count. */
  readonly onProgress: ((sidecar: Sidecar["name"], inFlight: InFlight) => void) | undefined;
}
