import { APPS_FOLDER, OWN_FOLDER } from "../../../shared/core/peer-volume.ts";

/** The name of the record in the folder of each container. */
const RECORD = "state";

/** Returns the path of the record that the container writes. */
export function ownRecord(): string {
  return `${OWN_FOLDER}/${RECORD}`;
}

/** Returns the path at which all app containers of the pod can read the record of one of them. */
export function recordOf(name: string): string {
  return `${APPS_FOLDER}/${name}/${RECORD}`;
}

/** What an ebb says of its container. It holds the record's lock from `started` on until it ends. */
export interface PeerRecord {
  /** `ended`: its app has ended. `quitting`: it is the last one, and tells the sidecars to quit. */
  readonly state: "started" | "ended" | "quitting";
  /** Whether the kubelet starts the container again: after this end or, if it says `started`, after a crash. */
  readonly restarts: boolean;
}

/** The bytes of every record: one that is written over another needs no space, and leaves nothing of it. */
export const RECORD_BYTES = 64;

/** Formats a record: a line of JSON, filled up with spaces to `RECORD_BYTES`. */
export function formatRecord({ state, restarts }: PeerRecord): string {
  return `${JSON.stringify({ state, restarts }).padEnd(RECORD_BYTES - 1)}\n`;
}

/** Parses the first bytes of a record. Returns undefined for anything else, such as a part of one. */
export function parseRecord(text: string): PeerRecord | undefined {
  for (const state of ["started", "ended", "quitting"] as const) {
    for (const restarts of [true, false]) {
      if (text === formatRecord({ state, restarts })) return { state, restarts };
    }
  }
  return undefined;
}

/** An app container of this pod, as its record shows it. */
export interface Peer {
  readonly name: string;
  /** `missing` if there is no record yet; undefined if it cannot be read, or is none. */
  readonly record: PeerRecord | "missing" | undefined;
  /** Whether its ebb runs. */
  readonly isLocked: boolean;
}

/**
 * Returns why a container will still need the sidecars; undefined if it has ended for good. What is in doubt counts as
 * running.
 *
 * Records need no boot ID: after a reboot the kubelet starts again only the containers whose records say `restarts`, not
 * those under restartPolicy Never, nor those that succeeded under OnFailure (kubernetes
 * pkg/kubelet/kuberuntime/kuberuntime_manager.go, computePodActions, where it creates a sandbox).
 *
 * Two cases are wrong, and rare. Under OnFailure the kubelet also starts a container again that was killed between writing
 * `ended` and its end; the others count it as ended, and when it starts it finds `quitting` and waits for a new sidecar.
 * With RestartAllContainers (Kubernetes 1.35), the record of a container that had ended stays until it has started again:
 * another that ends for good before that quits the sidecars too early.
 */
function whyNeeded({ name, record, isLocked }: Peer): string | undefined {
  if (record === "missing") return `${name} has not started`;
  if (record === undefined) return isLocked ? `${name} runs` : `${name} has no readable record`;
  if (record.state === "started" && isLocked) return `${name} runs`;
  return record.restarts ? `the kubelet restarts ${name}` : undefined;
}

/** Returns why the sidecars must not be told to quit yet; undefined if this container is the last one. */
export function whyNotLast(peers: readonly Peer[]): string | undefined {
  const reasons = peers.flatMap((peer) => whyNeeded(peer) ?? []);
  return reasons.length === 0 ? undefined : `--last-of: ${reasons.join(", ")}`;
}

/**
 * Returns the container that quits the sidecars now. It holds the lock of the folder until it ends, and nobody else has
 * to do so.
 */
export function quitterOf(peers: readonly Peer[]): string | undefined {
  return peers.find(({ record, isLocked }) => isLocked && record !== "missing" && record?.state === "quitting")?.name;
}

/** Reports whether an ebb of the pod has told the sidecars to quit: what answers in their place now is about to go. */
export function haveToldToQuit(peers: readonly Peer[]): boolean {
  return peers.some(({ record }) => record !== "missing" && record?.state === "quitting");
}
