// Which of several replicas leads, by a Lease that all of them read and write: the rules of client-go's leaderelection
// (tools/leaderelection/leaderelection.go). Each replica compares only times of its own clock, so a wrong wall clock
// does no harm.

/** The part of a Lease that decides who leads. The times that a Lease has are for people, and are never compared. */
export interface LeaseState {
  /** The identity of the replica that leads; empty if the Lease was released. */
  readonly holder: string;
  readonly durationMs: number;
  /** How often the holder has changed (leaseTransitions). */
  readonly transitions: number;
  /** The resourceVersion, which changes with each write. */
  readonly version: string;
}

/** How a candidate takes part. */
export interface LeasePolicy {
  /** The name by which this replica holds the Lease; each replica has its own. */
  readonly identity: string;
  /** How long the other replicas wait after the last write that they saw. */
  readonly durationMs: number;
  /** How long a leader leads after its last write; less than `durationMs`. */
  readonly deadlineMs: number;
}

/** What a replica knows; times are in milliseconds of its own monotonic clock. */
export interface Candidate {
  /** The Lease as last read, and when that version was first read; undefined if there is no Lease. */
  readonly seen?: { readonly lease: LeaseState; readonly atMs: number } | undefined;
  /** When the last write by which it leads was begun; undefined if it does not lead. */
  readonly heldSinceMs?: number | undefined;
}

/** What a candidate does next. */
export type Move =
  | { readonly kind: "create" }
  /** To write the Lease, with this number of transitions, on condition that it has not changed since it was read. */
  | { readonly kind: "take"; readonly transitions: number }
  | { readonly kind: "wait"; readonly holder: string };

/**
 * Returns the candidate after it has read the Lease at `nowMs`. If the Lease was written since the last read, its
 * duration begins again; otherwise the candidate is unchanged.
 */
export function observeLease(candidate: Candidate, lease: LeaseState, nowMs: number): Candidate {
  if (candidate.seen?.lease.version === lease.version) return candidate;
  return { ...candidate, seen: { lease, atMs: nowMs } };
}

/**
 * Decides what to do about the Lease as last read: to create it if there is none, to take it (renew it, or take over a
 * Lease that is released or has run out), or to wait for its holder.
 */
export function nextMove({ seen }: Candidate, { identity }: LeasePolicy, nowMs: number): Move {
  if (seen === undefined) return { kind: "create" };
  const { holder, durationMs, transitions } = seen.lease;
  if (holder === identity) return { kind: "take", transitions };
  const isFree = holder === "" || nowMs >= seen.atMs + durationMs;
  return isFree ? { kind: "take", transitions: transitions + 1 } : { kind: "wait", holder };
}

/**
 * Returns the candidate after the API server has accepted its write of the Lease. It leads from `begunMs`, the time
 * before it sent the write: others see the write later than that, and so count from later.
 */
export function recordWrite(lease: LeaseState, begunMs: number, nowMs: number): Candidate {
  return { seen: { lease, atMs: nowMs }, heldSinceMs: begunMs };
}

/**
 * Returns until when a candidate leads without a further write, in its own milliseconds, or undefined if it does not
 * lead.
 */
export function leadsUntil({ heldSinceMs }: Candidate, { deadlineMs }: LeasePolicy): number | undefined {
  return heldSinceMs === undefined ? undefined : heldSinceMs + deadlineMs;
}

/** Returns a copy of a candidate that does not lead. Writes nothing: the Lease stays as it is. */
export function resign(candidate: Candidate): Candidate {
  return { seen: candidate.seen };
}
