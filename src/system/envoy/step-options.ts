import type { InFlight } from "../../core/envoy/in-flight.ts";
import type { Sidecar } from "../../core/sidecars/sidecar.ts";
import type { Log } from "../output/log.ts";
import type { EnvoyAdmin } from "./admin.ts";

/** What the steps of one Envoy's drain share. */
export interface StepOptions {
  readonly sidecar: Sidecar["name"];
  readonly envoy: NonNullable<Sidecar["envoy"]>;
  readonly admin: EnvoyAdmin;
  readonly log: Log;
  readonly onProgress: ((sidecar: Sidecar["name"], inFlight: InFlight) => void) | undefined;
}
