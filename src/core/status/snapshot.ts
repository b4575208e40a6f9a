import type { EnvoyStatus } from "../envoy/envoy-status.ts";
import type { SocketsStatus } from "../proc/sockets.ts";
import type { Sidecar } from "../sidecars/sidecar.ts";

/**
 * What `ebb status --json` prints: the README documents it field by field. Times in milliseconds; null: not known. A change
 * that breaks a reader gets another `version`.
 */
export interface Snapshot {
  readonly version: 1;
  /** When it was taken: RFC 3339, UTC. */
  readonly time: string;
  /** What told of the sidecars: `--sidecar`, a variable, `annotation ...`, `port ...`; null: there are none. */
  readonly foundBy: string | null;
  readonly sidecars: readonly SidecarStatus[];
  /** null: /proc/net cannot be read. */
  readonly sockets: SocketsStatus | null;
  /** null: /proc cannot be read. */
  readonly processes: ProcessesStatus | null;
  readonly findings: readonly Finding[];
}

export interface SidecarStatus {
  readonly name: Sidecar["name"];
  /** Listed under initContainers, as far as the pod's annotations tell. */
  readonly native: boolean;
  readonly ready: boolean;
  /** What was asked for readiness, and why it is not ready. */
  readonly probes: readonly ProbeStatus[];
  /** null: not an Envoy. */
  readonly envoy: EnvoyStatus | null;
}

export interface ProbeStatus {
  readonly target: string;
  readonly ready: boolean;
  readonly reason: string | null;
}

export interface ProcessesStatus {
  readonly count: number;
  /** Processes whose descriptors cannot be read: what they listen on has no owner here. */
  readonly unreadable: number;
  /** Whether other containers' processes are seen too; null: cannot be told. */
  readonly shared: boolean | null;
  /** PID 1. */
  readonly init: ProcessStatus | null;
  readonly initIsEbb: boolean;
  /** What ebb runs as PID 1. */
  readonly child: ProcessStatus | null;
  readonly zombies: readonly Zombie[];
  /** Whether sidecars are all that is left; null: cannot be told, because other containers' processes are not seen. */
  readonly appEnded: boolean | null;
  /** false: this is a container of its own, or the sidecar's, and the app's processes are in another. */
  readonly appSeen: boolean;
}

export interface ProcessStatus {
  readonly pid: number;
  readonly name: string;
  /** Its command line; empty for a zombie. */
  readonly command: readonly string[];
  /** running, sleeping, uninterruptible, stopped, traced, zombie, idle or dead. */
  readonly state: string;
  readonly ageMs: number | null;
}

export interface Zombie {
  readonly pid: number;
  readonly name: string;
  readonly parent: number;
}

/** What can stand out: words for programs, which stay. */
export const findingKinds = [
  "admin",
  "app-ended",
  "app-stuck",
  "app-unseen",
  "close-wait",
  "drained",
  "draining",
  "initializing",
  "no-agent",
  "no-listeners",
  "no-processes",
  "no-sidecar",
  "no-sockets",
  "not-accepting",
  "not-proved",
  "not-ready",
  "zombies",
] as const;

/** One sentence of what stands out. */
export interface Finding {
  readonly kind: (typeof findingKinds)[number];
  readonly message: string;
}
