import { type Backoff, backoffMs } from "../../core/cluster/backoff.ts";
import type { Outcome } from "../../core/reap/attempt-steps.ts";
import type { ReaperMemory } from "../../core/reap/pod-rules.ts";
import type { ReapPolicy } from "../../core/reap/policy.ts";
import { reportOf, reportOfVerdict } from "../../core/reap/report.ts";
import { type Verdict, verdictOf } from "../../core/reap/verdict.ts";
import type { Log } from "../../system/output/log.ts";
import type { KubeObject } from "../api/client.ts";
import { type Attempts, auditOf } from "./attempts.ts";
import type { Complaints } from "./complaints.ts";
import type { PodEvents } from "./pod-events.ts";
import { type PodChange, type PodSource, podRefOf } from "./pods.ts";
import type { ReaperMetrics } from "./reaper-metrics.ts";
import { createWaitingPods } from "./waiting-pods.ts";

/** What is known of pods beyond what they say, by UID. A pod that is gone is forgotten. */
export interface Memory {
  /** What came of the attempt at a pod whose sidecars have ended, or were given up. */
  readonly handled: Map<string, string>;
  /** When a pod was first found to be stuck but for --after, in milliseconds since the epoch. */
  readonly seen: Map<string, number>;
  /** How often an attempt found no reason to act although the watch had one, or there was no answer it. */
  readonly disagreements: Map<string, number>;
}

/** Returns the memory of a reaper that has just started. */
export function emptyMemory(): Memory {
  return { handled: new Map(), seen: new Map(), disagreements: new Map() };
}

/** Returns the memory as the rules take it, with the current time. The maps are the same ones, not copies. */
export function knownNow({ handled, seen }: Memory): ReaperMemory {
  return { now: Date.now(), handled, seen };
}

/** What the reconciler works with. */
export interface ReconcilerContext {
  readonly source: Pick<PodSource, "get">;
  readonly attempts: Attempts;
  readonly events: PodEvents;
  readonly complaints: Complaints;
  readonly metrics: ReaperMetrics;
  readonly policy: () => ReapPolicy;
  readonly memory: Memory;
  /** How many stuck pods have an attempt at a time. */
  readonly concurrency: number;
  /** True: the log says what would be done, once for each pod, and nothing is. */
  readonly isDryRun: boolean;
  readonly log: Log;
}

/**
 * Judges each pod when it changes and when its time has come, and, while this replica leads, ends the sidecars of stuck
 * ones.
 */
export interface Reconciler {
  /** How many pods wait for their time or turn. */
  readonly depth: number;
  /** Takes a change that the watch saw. */
  changed(change: PodChange): void;
  /** Judges these pods anew, those that were given up too: a permission that was granted may end their sidecars. */
  reconsider(pods: Iterable<KubeObject>): void;
  /** Judges each pod again when its time has come, until the signal is aborted. */
  judge(signal: AbortSignal): Promise<void>;
  /**
   * Ends the sidecars of stuck pods until the signal is aborted; call it while this replica leads. Resolves when no
   * attempt is under way any more.
   */
  act(signal: AbortSignal): Promise<void>;
}

/** The pause before another attempt at a pod after one that found no reason to act, or was not answered. */
const disagreement: Backoff = { firstMs: 10_000, longestMs: 600_000 };
/**
 * For how long a new leader reads the Events of each stuck pod first: the last leader may have told its sidecars to
 * quit.
 */
const INHERITED_MS = 60_000;
const FOR_EVER = Number.MAX_SAFE_INTEGER;

/**
 * Creates the reconciler of the reaper. It judges pods only when its methods are called, and has attempts at no more
 * than `concurrency` stuck ones at a time. Changes `memory`.
 */
export function createReconciler(context: ReconcilerContext): Reconciler {
  const { source, attempts, complaints, metrics, policy, memory, concurrency } = context;
  const waiting = createWaitingPods();
  const judge = (uid: string): Verdict | undefined => {
    const pod = source.get(uid);
    if (pod === undefined || attempts.isUnderWay(uid)) return undefined;
    const verdict = verdictOf(pod, policy(), knownNow(memory));
    metrics.judged(uid, verdict);
    complaints.judged(pod, verdict);
    if (verdict.kind === "end") waiting.stuck(uid);
    else waiting.notStuck(uid);
    if (verdict.kind === "leave") memory.seen.delete(uid);
    if (verdict.kind === "later") {
      if (!memory.seen.has(uid)) memory.seen.set(uid, Date.now());
      waiting.later(uid, verdict.at);
    }
    return verdict;
  };
  const forget = (uid: string): void => {
    waiting.forget(uid);
    for (const known of [memory.handled, memory.seen, memory.disagreements]) known.delete(uid);
    metrics.forgot(uid);
    complaints.forgot(uid);
  };
  const turns = createTurns(context, { waiting, judge, forget });
  return {
    get depth() {
      return waiting.size;
    },
    changed(change) {
      attempts.changed(change);
      if (change.pod === undefined) forget(change.uid);
      else {
        metrics.saw(change.uid, change.pod);
        judge(change.uid);
      }
    },
    reconsider(pods) {
      memory.handled.clear();
      for (const pod of pods) judge(podRefOf(pod).uid);
    },
    async judge(signal) {
      for (let uid = await waiting.due(signal); uid !== undefined; uid = await waiting.due(signal)) judge(uid);
    },
    async act(signal) {
      complaints.lead(signal);
      const take = turns(signal);
      const work = async (): Promise<void> => {
        for (let uid = await waiting.turn(signal); uid !== undefined; uid = await waiting.turn(signal)) await take(uid);
      };
      await Promise.all(Array.from({ length: concurrency }, work));
    },
  };
}

interface Judging {
  readonly waiting: ReturnType<typeof createWaitingPods>;
  readonly judge: (uid: string) => Verdict | undefined;
  readonly forget: (uid: string) => void;
}

/** Creates a function that begins a term as leader. It returns the function that handles one stuck pod in that term. */
function createTurns(context: ReconcilerContext, { waiting, judge, forget }: Judging) {
  const { source, attempts, events, memory, isDryRun, log } = context;
  const conclude = (uid: string, outcome: Outcome): void => {
    if (source.get(uid) === undefined) return forget(uid);
    if (outcome.kind === "ended" || outcome.kind === "gave-up") memory.handled.set(uid, reportOf(outcome).why);
    if (outcome.kind === "left" || outcome.kind === "gone" || outcome.kind === "put-off") {
      const times = memory.disagreements.get(uid) ?? 0;
      memory.disagreements.set(uid, times + 1);
      waiting.rest(uid, Date.now() + backoffMs(times, disagreement, Math.random()));
    }
    judge(uid);
  };
  return (signal: AbortSignal) => {
    const inherited = new Set(waiting.allStuck());
    const begunAt = Date.now();
    const asked = new Set<string>();
    const asking = new Set<string>();
    return async (uid: string): Promise<void> => {
      if (asking.has(uid)) return; // it has changed meanwhile, and another worker has it
      const pod = source.get(uid);
      const verdict = judge(uid);
      waiting.notStuck(uid);
      if (pod === undefined || verdict?.kind !== "end") return;
      if (isDryRun) {
        log.info({ ...auditOf(pod, verdict), why: reportOfVerdict(verdict).why, dryRun: true }, "pod is stuck");
        return waiting.rest(uid, FOR_EVER);
      }
      const isInherited = inherited.has(uid) || Date.now() - begunAt < INHERITED_MS;
      if (isInherited && !asked.has(uid)) {
        asked.add(uid);
        const patienceMs = verdict.containers[0]?.patienceMs ?? 0;
        asking.add(uid);
        const lastTold = await events.lastTold(podRefOf(pod), signal).finally(() => asking.delete(uid));
        const toldAt = Math.min(Date.now(), lastTold ?? 0);
        if (toldAt + patienceMs > Date.now()) return waiting.rest(uid, toldAt + patienceMs);
      }
      waiting.notStuck(uid);
      if (!signal.aborted) conclude(uid, await attempts.make(pod, verdict, signal));
    };
  };
}
