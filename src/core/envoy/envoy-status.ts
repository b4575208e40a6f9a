import type { InFlight } from "./in-flight.ts";

/** The state of an Envoy, as `ebb status --json` prints it. Null stands for what is not known. */
export interface EnvoyStatus {
  /** The URL of its admin interface, without a slash at the end. */
  readonly admin: string;
  /**
   * A text for each path that was not answered: `/stats: REASON`; the reason alone if it was the same for all paths.
   */
  readonly problems: readonly string[];
  /** LIVE, DRAINING (its health checks were failed), PRE_INITIALIZING or INITIALIZING. */
  readonly state: string | null;
  /** Its version, such as `1.40.0`. */
  readonly release: string | null;
  /** Since the last hot restart. */
  readonly uptimeMs: number | null;
  /** How often it was hot restarted. */
  readonly epoch: number | null;
  /** Its flags --drain-strategy (in lower case) and --drain-time-s. */
  readonly drainStrategy: string | null;
  readonly drainTimeMs: number | null;
  /**
   * How many HTTP connections draining has closed so far. A drain of listeners shows here, and not in Envoy's state.
   */
  readonly drained: number | null;
  /** What a drain would wait for. */
  readonly inFlight: InFlight | null;
  /** The listeners that are bound; empty if they are not known. */
  readonly listeners: readonly ListenerStatus[];
}

/** The state of one listener that is bound. */
export interface ListenerStatus {
  readonly name: string;
  /** `127.0.0.1:8080`, `[::]:80`, or the path of a unix socket. Null for a listener inside Envoy. */
  readonly address: string | null;
  readonly direction: "inbound" | "outbound" | null;
  /** How many connections are open. Null if Envoy does not publish that. */
  readonly connections: number | null;
}
