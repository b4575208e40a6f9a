import type { Sidecar } from "../../../shared/sidecars/core/sidecar.ts";
import type { EnvoyStatus } from "../../envoy/core/status.ts";
import type { SocketsStatus } from "../../process/core/net.ts";

/**
 * What `ebb status --json` prints, which the README documents field by field. Spans are in milliseconds; null stands
 * for what is not known. A change that breaks a reader needs another `version`.
 */
export interface Snapshot {
  readonly version: 1;
  /** When it was taken, as RFC 3339 in UTC. */
  readonly time: string;
  /**
   * What showed the sidecars: `--sidecar`, a variable, `annotation ...`, `port ...`; ` of PID 1` follows a flag of an ebb
   * that is PID 1. Null if there are none.
   */
  readonly foundBy: string | null;
  readonly sidecars: readonly SidecarStatus[];
  /** Null if /proc/net cannot be read. */
  readonly sockets: SocketsStatus | null;
  /** Null if /proc cannot be read. */
  readonly processes: ProcessesStatus | null;
  readonly findings: readonly StatusFinding[];
}

export interface SidecarStatus {
  readonly name: Sidecar["name"];
  /** Whether it is a native sidecar, under initContainers, as far as the pod's annotations tell. */
  readonly native: boolean;
  /** Whether all probes are ready. Null if there is none: nothing was asked. */
  readonly ready: boolean | null;
  readonly probes: readonly ProbeStatus[];
  /** Null if it is not an Envoy. */
  readonly envoy: EnvoyStatus | null;
}

export interface ProbeStatus {
  readonly target: string;
  readonly ready: boolean;
  /** Why it is not ready. Null if it is. */
  readonly reason: string | null;
}

export interface ProcessesStatus {
  /** How many processes ebb sees. */
  readonly count: number;
  /** How many of them have descriptors that ebb may not read: sockets on which they listen have no owner here. */
  readonly unreadable: number;
  /** Whether other containers' processes are seen too. Null if that cannot be told. */
  readonly shared: boolean | null;
  /** PID 1. */
  readonly init: ProcessStatus | null;
  readonly initIsEbb: boolean;
  /** The command that ebb runs as PID 1. Null if PID 1 is not ebb, or if this ebb is PID 1 itself. */
  readonly child: ProcessStatus | null;
  readonly zombies: readonly Zombie[];
  /** Whether only sidecars are left. Null if that cannot be told, because other containers' processes are not seen. */
  readonly appEnded: boolean | null;
  /** False if the app's processes are in another container: this one is ebb's own, or the sidecar's. */
  readonly appSeen: boolean;
}

export interface ProcessStatus {
  readonly pid: number;
  readonly name: string;
  /** Its command line, in which URLs and the secrets in ebb's own flags are redacted. Empty for a zombie. */
  readonly command: readonly string[];
  /** running, sleeping, uninterruptible, stopped, traced, zombie, idle or dead. */
  readonly state: string;
  readonly ageMs: number | null;
}

export interface Zombie {
  readonly pid: number;
  readonly name: string;
  /** The PID of the process that does not reap it. */
  readonly parent: number;
}

/** The kinds of findings, for programs that read them: they keep their names. */
export const findingKinds = [
  "admin",
  "app-ended",
  "app-stuck",
  "app-unseen",
  "close-wait",
  "drained",
  "draining",
  "elsewhere",
  "initializing",
  "no-agent",
  "no-listeners",
  "no-processes",
  "no-sidecar",
  "no-sockets",
  "not-accepting",
  "not-proved",
  "not-ready",
  "not-started",
  "zombies",
] as const;

/** Something that stands out in a pod. */
export interface StatusFinding {
  readonly kind: (typeof findingKinds)[number];
  /** One sentence, for people. */
  readonly message: string;
}
