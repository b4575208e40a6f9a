// Which of several replicas leads, by a Lease that all of them read and write: the rules of client-go's leaderelection
// (tools/leaderelection/leaderelection.go). Each compares only its own clock with itself: whose wall clock is wrong does no harm.

/** A Lease as far as leading goes. The times in it are for people: nobody compares them. */
export interface LeaseState {
  readonly holder: string;
  readonly durationMs: number;
  readonly transitions: number;
  /** Changes with each write. */
  readonly version: string;
}

export interface LeasePolicy {
  readonly identity: string;
  /** How long the others wait after the last write that they saw. */
  readonly durationMs: number;
  /** How long after its last write a leader still leads; less than the duration. */
  readonly deadlineMs: number;
}

/** What a candidate has seen; times are of its own monotonic clock. */
export interface Candidate {
  readonly seen?: { readonly lease: LeaseState; readonly atMs: number } | undefined;
  /** When the last write that made or kept it leader was begun. */
  readonly heldSinceMs?: number | undefined;
}

export type Move =
  | { readonly kind: "create" }
  /** Write over what was read, provided that it has not changed since. */
  | { readonly kind: "take"; readonly transitions: number }
  | { readonly kind: "wait"; readonly holder: string };

/** Returns the candidate after it has read the Lease. A Lease's time runs from when a candidate first sees its latest write. */
export function observeLease(candidate: Candidate, lease: LeaseState, nowMs: number): Candidate {
  if (candidate.seen?.lease.version === lease.version) return candidate;
  return { ...candidate, seen: { lease, atMs: nowMs } };
}

/**
 * Decides what to do about the Lease as last read: create it where there is none, take it (renew or take over), or wait for its
 * holder.
 */
export function nextMove({ seen }: Candidate, { identity }: LeasePolicy, nowMs: number): Move {
  if (seen === undefined) return { kind: "create" };
  const { holder, durationMs, transitions } = seen.lease;
  if (holder === identity) return { kind: "take", transitions };
  const isFree = holder === "" || nowMs >= seen.atMs + durationMs;
  return isFree ? { kind: "take", transitions: transitions + 1 } : { kind: "wait", holder };
}

/**
 * Returns the candidate after the server took its write. It leads from `begunMs`, before the write was sent; others count from
 * later.
 */
export function recordWrite(lease: LeaseState, begunMs: number, nowMs: number): Candidate {
  return { seen: { lease, atMs: nowMs }, heldSinceMs: begunMs };
}

/** Returns until when a candidate leads without a further write, in milliseconds; undefined where it does not lead. */
export function leadsUntil({ heldSinceMs }: Candidate, { deadlineMs }: LeasePolicy): number | undefined {
  return heldSinceMs === undefined ? undefined : heldSinceMs + deadlineMs;
}

/** Returns the candidate as one that no longer leads. */
export function resign(candidate: Candidate): Candidate {
  return { seen: candidate.seen };
}
