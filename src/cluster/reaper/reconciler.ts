import type { Log } from "../../shared/output/log.ts";
import type { KubeObject } from "../api/client.ts";
import { type Backoff, backoffMs } from "../core/backoff.ts";
import { type Attempts, auditOf } from "./attempts.ts";
import { createController } from "./controller.ts";
import type { ReaperMemory } from "./core/pod-rules.ts";
import type { ReapPolicy } from "./core/policy.ts";
import { type Outcome, observationOfLost } from "./core/reconcile.ts";
import { reportOf, reportOfVerdict } from "./core/report.ts";
import { type Verdict, verdictOf } from "./core/verdict.ts";
import { podRefOf } from "./methods/target.ts";
import type { UserErrors } from "./pod-events.ts";
import type { PodSeen, PodSource } from "./pods.ts";
import type { ReaperMetrics } from "./reaper-metrics.ts";

/** What is known of a pod beyond what it says. */
export interface PodMemory {
  /** As the watch showed it last. Undefined: it is left alone. */
  verdict?: Exclude<Verdict, { kind: "leave" }> | undefined;
  /** What came of the attempt, if its sidecars have ended or were given up. */
  handled?: string | undefined;
  /** When it was first found to be stuck but for --after, in milliseconds since the epoch. */
  seenAt?: number | undefined;
  /** How often an attempt was put off or found no reason to act. */
  rests: number;
  /** No attempt is begun before this time, in milliseconds of the monotonic clock. */
  restUntil: number;
  /** The log has said that it is stuck (--dry-run). */
  isLogged?: boolean;
}

/** What is known of pods, by UID. A pod that is gone is forgotten, and one that was always left alone is not there. */
export type Memory = Map<string, PodMemory>;

/** Returns what the rules take of a pod's memory, with the current time. */
export function memoryNow(one: PodMemory | undefined): ReaperMemory {
  return { now: Date.now(), handled: one?.handled, seenAt: one?.seenAt };
}

/** What the reconciler works with. */
export interface ReconcilerContext {
  readonly source: Pick<PodSource, "get" | "all">;
  readonly attempts: Attempts;
  readonly userErrors: UserErrors;
  readonly metrics: Pick<ReaperMetrics, "judged" | "saw" | "forgot">;
  readonly policy: () => ReapPolicy;
  readonly memory: Memory;
  /** How many pods are reconciled at a time. */
  readonly concurrency: number;
  /** True: the log says what would be done, once for each pod, and nothing is. */
  readonly isDryRun: boolean;
  readonly log: Log;
}

/** Judges each pod when it changes and when its time has come, and ends the sidecars of stuck ones. */
export interface Reconciler {
  /** How many pods wait for their time or turn. */
  depth(): number;
  /** Takes a change that the watch saw. */
  changed: PodSeen;
  /** Judges all pods again, also those that it gave up: a new permission may make another method possible. */
  reconsider(): void;
  /** Reconciles pods until the signal is aborted. Resolves when no request is under way any more. */
  run(signal: AbortSignal): Promise<void>;
}

/** Creates the reconciler of the reaper. Changes `memory`. */
export function createReconciler(context: ReconcilerContext): Reconciler {
  const { source, attempts, metrics, memory } = context;
  let stop = AbortSignal.abort();
  const forget = (uid: string): void => {
    memory.delete(uid);
    controller.forget(uid);
    metrics.forgot(uid);
    context.userErrors.remove(uid);
  };
  /** Judges a pod, and returns the milliseconds after which its time has come; undefined: it is left alone. */
  const take = (pod: KubeObject): number | undefined => {
    const { uid } = podRefOf(pod);
    const verdict = judge(pod, context);
    attempts.changed(uid, verdict);
    if (verdict.kind === "end" || attempts.has(uid)) return 0;
    return verdict.kind === "later" ? verdict.at - Date.now() + 1 : undefined;
  };
  const enqueue = (pod: KubeObject): void => {
    const afterMs = take(pod);
    if (afterMs === undefined) controller.forget(podRefOf(pod).uid);
    else controller.add(podRefOf(pod).uid, afterMs);
  };
  const reconcile = async (uid: string): Promise<number | undefined> => {
    if (!attempts.has(uid)) {
      const pod = source.get(uid);
      const verdict = memory.get(uid)?.verdict;
      if (pod === undefined || verdict === undefined) return undefined;
      if (verdict.kind === "later") return take(pod);
      const afterMs = begin(pod, verdict, context);
      if (!attempts.has(uid)) return afterMs;
    }
    const step = await attempts.step(uid, stop);
    if (typeof step === "number") return step;
    const pod = source.get(uid);
    if (pod === undefined) return void forget(uid);
    remember(step, entryOf(uid, memory));
    return take(pod);
  };
  const controller = createController(reconcile, context.concurrency);
  return {
    depth: () =>
      [...new Set([...controller.waiting(), ...stuckOnes(memory)])].filter((uid) => !attempts.has(uid)).length,
    changed(pod, isGone) {
      const { uid } = podRefOf(pod);
      if (!isGone) {
        metrics.saw(uid, pod);
        return enqueue(pod);
      }
      forget(uid);
      attempts.changed(uid, observationOfLost(pod));
      if (attempts.has(uid)) controller.add(uid);
    },
    reconsider() {
      for (const one of memory.values()) one.handled = undefined;
      for (const pod of source.all()) enqueue(pod);
    },
    run(signal) {
      stop = signal;
      return controller.run(signal);
    },
  };
}

/** Judges a pod, and remembers the verdict, and since when only the time is missing. */
function judge(pod: KubeObject, { metrics, userErrors, policy, memory }: ReconcilerContext): Verdict {
  const { uid } = podRefOf(pod);
  const verdict = verdictOf(pod, policy(), memoryNow(memory.get(uid)));
  metrics.judged(uid, verdict);
  userErrors.update(pod, verdict);
  if (verdict.kind === "leave" && !memory.has(uid)) return verdict;
  const one = entryOf(uid, memory);
  one.verdict = verdict.kind === "leave" ? undefined : verdict;
  if (verdict.kind === "leave") one.seenAt = undefined;
  if (verdict.kind === "later") one.seenAt ??= Date.now();
  return verdict;
}

function entryOf(uid: string, memory: Memory): PodMemory {
  const one = memory.get(uid) ?? { rests: 0, restUntil: 0 };
  memory.set(uid, one);
  return one;
}

function stuckOnes(memory: Memory): readonly string[] {
  return [...memory].flatMap(([uid, { verdict }]) => (verdict?.kind === "end" ? [uid] : []));
}

type StuckVerdict = Extract<Verdict, { kind: "end" }>;

/** Begins an attempt at a stuck pod, or returns the milliseconds after which it may begin; undefined: never. */
function begin(pod: KubeObject, verdict: StuckVerdict, context: ReconcilerContext): number | undefined {
  const { memory, attempts, isDryRun, log } = context;
  const one = entryOf(podRefOf(pod).uid, memory);
  const restMs = one.restUntil - performance.now();
  if (restMs > 0) return restMs;
  if (isDryRun) {
    const { why } = reportOfVerdict(verdict);
    if (!one.isLogged) log.info({ ...auditOf(pod, verdict), why, dryRun: true }, "pod is stuck");
    one.isLogged = true;
    return undefined;
  }
  attempts.begin(pod, verdict);
  return undefined;
}

/** The pause before another attempt at a pod after one that found no reason to act, or was not answered. */
const disagreement: Backoff = { firstMs: 10_000, longestMs: 600_000 };

function remember(outcome: Outcome, one: PodMemory): void {
  if (outcome.kind === "ended" || outcome.kind === "gave-up") one.handled = reportOf(outcome).why;
  else one.restUntil = performance.now() + backoffMs(one.rests++, disagreement, Math.random());
}
