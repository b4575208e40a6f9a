import type { Attempt, Outcome } from "./core/attempt.ts";
import type { ReaperMemory, Rule } from "./core/pod-rules.ts";
import type { PodView } from "./core/pod-view.ts";
import { reportOf } from "./core/report.ts";
import type { Verdict } from "./core/verdict.ts";

/** All that the reaper keeps of one pod. */
export interface PodRecord {
  /** As it was seen last. */
  pod: PodView;
  /** It no longer exists, runs or has the selected labels. The record stays until its attempt is over. */
  isGone: boolean;
  /** What follows from `pod`. */
  verdict: Verdict;
  /** When it was first found to be stuck but for --after, in milliseconds since the epoch. */
  seenAt?: number | undefined;
  /** The attempt to end its sidecars, from its first step to its outcome. */
  attempt?: Attempt | undefined;
  /** What came of the last attempt. */
  outcome?: Outcome | undefined;
  /** How often an attempt was put off, or found no reason to act. */
  putOffs: number;
  /** No attempt is begun before this time, in milliseconds of the monotonic clock. */
  notBefore: number;
  /** What its user must mend, as the log and an Event have said it. */
  reported?: string | undefined;
  /** The log has said that it is stuck (--dry-run). */
  isLogged?: boolean;
}

/** The records by UID. */
export type PodRecords = Map<string, PodRecord>;

/** Returns the records of the pods that are there. */
export function presentIn(records: PodRecords): readonly PodRecord[] {
  return [...records.values()].filter(({ isGone }) => !isGone);
}

/** Reports whether an attempt to end its sidecars is under way. */
export function isUnderWay({ attempt }: PodRecord): boolean {
  return attempt !== undefined;
}

/** Returns what the rules take of a record, with the current time. */
export function memoryOf({ outcome, seenAt }: Pick<PodRecord, "outcome" | "seenAt">): ReaperMemory {
  return { now: Date.now(), handled: outcome && isFinal(outcome) ? reportOf(outcome).why : undefined, seenAt };
}

/** Reports whether no other attempt follows this outcome. */
export function isFinal({ kind }: Outcome): boolean {
  return kind === "ended" || kind === "gave-up";
}

/** The fields that each log line about a stuck pod has. */
interface Audit {
  readonly namespace: string;
  readonly pod: string;
  readonly uid: string;
  readonly job: string | undefined;
  readonly reason: Rule;
}

/** Returns these fields for a pod. */
export function auditOf({ namespace, name, uid, job }: PodView): Audit {
  return { namespace, pod: name, uid, job, reason: "stuck" };
}
