import type { InFlight } from "./in-flight.ts";

export interface EnvoyStatus {
  readonly admin: string;
  /** What the admin interface did not answer, and why. */
  readonly problems: readonly string[];
  /** LIVE, DRAINING (its health was failed), PRE_INITIALIZING or INITIALIZING. */
  readonly state: string | null;
  readonly release: string | null;
  readonly uptimeMs: number | null;
  /** How often it was hot restarted. */
  readonly epoch: number | null;
  /** --drain-strategy and --drain-time-s. */
  readonly drainStrategy: string | null;
  readonly drainTimeMs: number | null;
  /** HTTP connections that draining has closed so far; Envoy's state does not show a drain of listeners. */
  readonly drained: number | null;
  /** What a drain would wait for. */
  readonly inFlight: InFlight | null;
  readonly listeners: readonly ListenerStatus[];
}

export interface ListenerStatus {
  readonly name: string;
  /** `127.0.0.1:8080`, `[::]:80`, or the path of a unix socket. */
  readonly address: string | null;
  readonly direction: "inbound" | "outbound" | null;
  readonly connections: number | null;
}
