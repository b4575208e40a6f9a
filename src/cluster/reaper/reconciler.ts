import type { Log } from "../../shared/output/log.ts";
import { createWorkQueue } from "../controller/work-queue.ts";
import { type Backoff, backoffMs } from "../core/backoff.ts";
import { type AttemptContext, takeStep } from "./attempt.ts";
import { firstAttempt, type Outcome } from "./core/attempt.ts";
import { sortContainers } from "./core/pod-containers.ts";
import type { PodView } from "./core/pod-view.ts";
import { eventOfOutcome, reportOf, reportOfVerdict } from "./core/report.ts";
import { verdictOf } from "./core/verdict.ts";
import { auditOf, isFinal, isUnderWay, memoryOf, type PodRecord, type PodRecords, presentIn } from "./pod-record.ts";
import type { ReaperMetrics } from "./reaper-metrics.ts";
import type { UserErrors } from "./user-errors.ts";

/** What the reconciler works with. */
export interface ReconcilerContext extends AttemptContext {
  readonly records: PodRecords;
  readonly userErrors: UserErrors;
  readonly metrics?: Pick<ReaperMetrics, "judged" | "sent" | "attempted">;
  /** How many pods are reconciled at a time. */
  readonly concurrency: number;
  /** True: the log says what would be done, once for each pod, and nothing is. */
  readonly isDryRun: boolean;
}

/** Judges each pod when it changes and when its time has come, and ends the sidecars of stuck ones. */
interface Reconciler {
  /** How many pods wait for their time or turn. */
  depth(): number;
  /** Takes a pod as it is now. */
  changed(pod: PodView): void;
  /** Takes the UID of a pod that no longer exists, runs or has the selected labels. */
  gone(uid: string): void;
  /** Judges the pods of a namespace again: its label has changed. */
  namespaceChanged(name: string): void;
  /** Judges all pods again, if a permission was granted (`isGranted`) also those that it gave up or put off. */
  reconsider(isGranted: boolean): void;
  /**
   * Reconciles pods until the signal is aborted, with `isOnce` until none is left. Resolves when no request is under way
   * any more.
   */
  run(signal: AbortSignal): Promise<void>;
}

/** Creates the reconciler of the reaper. With `isOnce` a pod has one attempt. Changes `records`. */
export function createReconciler(context: ReconcilerContext): Reconciler {
  const { records, isOnce } = context;
  let stop = AbortSignal.abort();
  const judgeAndEnqueue = (record: Unjudged): void => {
    judge(record, context);
    records.set(record.pod.uid, record);
    const afterMs = dueIn(record);
    if (afterMs === undefined) queue.forget(record.pod.uid);
    else queue.add(record.pod.uid, afterMs);
  };
  const reconcilePod = async (uid: string): Promise<number | undefined> => {
    const record = records.get(uid);
    return record && (await takeTurn(record, stop, context));
  };
  const queue = createWorkQueue(reconcilePod, context.concurrency);
  return {
    depth() {
      const waiting = queue.waiting().map((uid) => records.get(uid));
      return waiting.filter((record) => record !== undefined && !isUnderWay(record)).length;
    },
    changed(pod) {
      const before = records.get(pod.uid);
      if (before?.isGone === false && Bun.deepEquals(before.pod, pod)) return; // most lists and changes show nothing new
      const record: Unjudged = before ?? { pod, isGone: false, putOffs: 0, notBefore: 0 };
      record.pod = pod;
      record.isGone = false;
      judgeAndEnqueue(record);
    },
    gone(uid) {
      queue.forget(uid);
      const record = records.get(uid);
      if (record === undefined) return;
      record.isGone = true;
      if (isUnderWay(record)) queue.add(uid);
      else records.delete(uid);
    },
    namespaceChanged(name) {
      for (const record of presentIn(records)) if (record.pod.namespace === name) judgeAndEnqueue(record);
    },
    reconsider(isGranted) {
      for (const record of presentIn(records)) {
        if (isGranted) Object.assign(record, { outcome: undefined, putOffs: 0, notBefore: 0 });
        judgeAndEnqueue(record);
      }
    },
    run(signal) {
      stop = signal;
      return queue.run(signal, isOnce);
    },
  };
}

/**
 * A pod's turn: begins its attempt if it is stuck and its time has come, takes the next step, and remembers what follows.
 * Resolves with the milliseconds until its next turn; undefined: it has none.
 */
async function takeTurn(
  record: PodRecord,
  signal: AbortSignal,
  context: ReconcilerContext,
): Promise<number | undefined> {
  const { isOnce, isDryRun } = context;
  const { attempt = firstAttempt } = record;
  if (!isUnderWay(record)) {
    if (record.verdict.kind === "later") judge(record, context);
    const afterMs = dueIn(record);
    if (afterMs !== 0) return afterMs;
    if (isDryRun) return logStuck(record, context.log);
    record.attempt = attempt;
  }
  const next = await takeStep({ record, attempt, signal, context }).catch((error) => {
    if (!signal.aborted) throw error;
  });
  if (next === undefined) return undefined;
  if (next.kind === "over") {
    await conclude(record, next.outcome, context);
    if (record.isGone || isOnce) return undefined;
    judge(record, context);
    return dueIn(record);
  }
  record.attempt = next.attempt;
  const leftMs = next.kind === "wait" ? next.untilMs - performance.now() : 0;
  const { exiting, unread } = next.attempt;
  const isPolled = isOnce && exiting !== undefined && unread === 0;
  return Math.max(0, isPolled ? Math.min(leftMs, READ_EVERY_MS) : leftMs);
}

/** Returns the milliseconds until a pod's turn, 0 if that is now; undefined: it is left alone. */
function dueIn(record: PodRecord): number | undefined {
  const { verdict } = record;
  if (isUnderWay(record)) return 0;
  if (verdict.kind === "leave") return undefined;
  if (verdict.kind === "later") return verdict.at - Date.now() + 1;
  return Math.max(0, record.notBefore - performance.now());
}

type Unjudged = Omit<PodRecord, "verdict"> & Partial<Pick<PodRecord, "verdict">>;

/** Judges a pod as it is known, remembers the verdict, and tells what is new of it. */
function judge(record: Unjudged, context: ReconcilerContext): asserts record is PodRecord {
  const { metrics, userErrors } = context;
  const policy = context.policy();
  const { pod, verdict: before } = record;
  const verdict = verdictOf(pod, policy, memoryOf(record));
  record.verdict = verdict;
  if (verdict.kind === "leave") record.seenAt = undefined;
  if (verdict.kind === "later") record.seenAt ??= Date.now();
  if (before?.rule !== verdict.rule) metrics?.judged(verdict.rule);
  userErrors.update(record, verdict, policy);
}

/** Logs what would be done with a stuck pod, once (--dry-run). */
function logStuck(record: PodRecord, log: Log): undefined {
  const { why } = reportOfVerdict(record.verdict);
  if (record.isLogged !== true) log.info({ ...auditOf(record.pod), why, dryRun: true }, "pod is stuck");
  record.isLogged = true;
}

/** How often a pod is read while its sidecar has its time to exit, and no watch tells of that. */
const READ_EVERY_MS = 2000;
/** The pause before another attempt at a pod after one that found no reason to act, or was not answered. */
const disagreement: Backoff = { firstMs: 10_000, longestMs: 600_000 };

/** Ends an attempt: in the log, the metrics and an Event, if its sidecars ended or were given up. */
async function conclude(record: PodRecord, outcome: Outcome, context: ReconcilerContext): Promise<void> {
  const { records, events, metrics, log } = context;
  if (record.isGone) records.delete(record.pod.uid);
  record.attempt = undefined;
  record.outcome = outcome;
  if (!isFinal(outcome))
    record.notBefore = performance.now() + backoffMs(record.putOffs++, disagreement, Math.random());
  tell(record.pod, outcome, log);
  metrics?.attempted(outcome.kind, outcome.kind === "ended" ? secondsSinceEnd(record.pod) : undefined);
  const event = eventOfOutcome(outcome);
  if (event !== undefined) await events.write(record.pod, event);
}

function tell(pod: PodView, outcome: Outcome, log: Log): void {
  const fields = { ...auditOf(pod), why: reportOf(outcome).why };
  switch (outcome.kind) {
    case "ended":
      return log.info(fields, "sidecars ended");
    case "gave-up":
      return log.error(fields, "gave up: a sidecar still runs after all methods");
    case "put-off":
      return log.warn(fields, "cannot end the sidecars now: postponed");
    case "gone":
      return log.info(fields, "pod gone");
    case "left":
      return log.info(fields, "pod left alone");
  }
}

/**
 * Returns the seconds since the app's last container ended, at least 0. The end is by the node's clock, now by this
 * one.
 */
function secondsSinceEnd(pod: PodView): number {
  const times = sortContainers(pod).apps.map(({ state }) => (state.kind === "terminated" ? state.finishedAt : 0));
  return Math.max(0, (Date.now() - Math.max(...times)) / 1000);
}
