import { type Backoff, backoffMs } from "../../core/cluster/backoff.ts";
import type { ReaperMemory } from "../../core/reap/pod-rules.ts";
import type { ReapPolicy } from "../../core/reap/policy.ts";
import type { Outcome } from "../../core/reap/reconcile.ts";
import { reportOf, reportOfVerdict } from "../../core/reap/report.ts";
import { type Verdict, verdictOf } from "../../core/reap/verdict.ts";
import type { Log } from "../../system/output/log.ts";
import type { KubeObject } from "../api/client.ts";
import { whenAborted } from "../controller/stops.ts";
import { type Attempts, auditOf } from "./attempts.ts";
import type { Complaints } from "./complaints.ts";
import { createController } from "./controller.ts";
import type { PodEvents } from "./pod-events.ts";
import { type PodSeen, type PodSource, podRefOf } from "./pods.ts";
import type { ReaperMetrics } from "./reaper-metrics.ts";

/** What is known of pods beyond what they say, by UID. A pod that is gone is forgotten. */
export interface Memory {
  /** What came of the attempt at a pod whose sidecars have ended, or were given up. */
  readonly handled: Map<string, string>;
  /** When a pod was first found to be stuck but for --after, in milliseconds since the epoch. */
  readonly seen: Map<string, number>;
  /** Since when a pod is stuck, in milliseconds of the monotonic clock. */
  readonly stuck: Map<string, number>;
  /** How often an attempt was put off or found no reason to act, and until when the pod rests. */
  readonly rests: Map<string, { readonly times: number; readonly untilMs: number }>;
  /** The pods of which --dry-run has told. */
  readonly said: Set<string>;
}

/** Returns the memory of a reaper that has just started. */
export function emptyMemory(): Memory {
  return { handled: new Map(), seen: new Map(), stuck: new Map(), rests: new Map(), said: new Set() };
}

/** Returns the memory as the rules take it, with the current time. The maps are the same ones, not copies. */
export function knownNow({ handled, seen }: Memory): ReaperMemory {
  return { now: Date.now(), handled, seen };
}

/** What the reconciler works with. */
export interface ReconcilerContext {
  readonly source: Pick<PodSource, "get" | "all">;
  readonly attempts: Attempts;
  readonly events: PodEvents;
  readonly complaints: Complaints;
  readonly metrics: Pick<ReaperMetrics, "judged" | "saw" | "forgot">;
  readonly policy: () => ReapPolicy;
  readonly memory: Memory;
  /** How many pods are reconciled at a time. */
  readonly concurrency: number;
  /** True: the log says what would be done, once for each pod, and nothing is. */
  readonly isDryRun: boolean;
  readonly log: Log;
}

/** Judges each pod when it changes and when its time has come, and, while this replica leads, ends stuck ones. */
export interface Reconciler {
  /** How many pods wait for their time or turn. */
  depth(): number;
  /** Takes a change that the watch saw. */
  changed: PodSeen;
  /** Judges all pods anew, those that were given up too: a permission that was granted may end their sidecars. */
  reconsider(): void;
  /** Reconciles pods until the signal is aborted. */
  run(signal: AbortSignal): Promise<void>;
  /** Acts until the signal is aborted; call it while this replica leads. Resolves when no act is under way any more. */
  lead(term: AbortSignal): Promise<void>;
}

/** The time for which this replica leads. */
interface Term {
  readonly signal: AbortSignal;
  /** In milliseconds of the monotonic clock. */
  readonly begunAt: number;
  /** The pods of which the last leader's Events were read. */
  readonly asked: Set<string>;
}

/** Creates the reconciler of the reaper. Changes `memory`. */
export function createReconciler(context: ReconcilerContext): Reconciler {
  const { source, attempts, metrics, memory } = context;
  let term: Term | undefined;
  const judgeNow = (pod: KubeObject): Verdict => {
    const verdict = judge(pod, context);
    if (term !== undefined) context.complaints.judged(pod, verdict, term.signal);
    return verdict;
  };
  const forget = (uid: string): void => {
    for (const known of Object.values(memory)) known.delete(uid);
    controller.forget(uid);
    metrics.forgot(uid);
    context.complaints.forgot(uid);
  };
  const reconcile = async (uid: string): Promise<number | undefined> => {
    const pod = source.get(uid);
    const now = term;
    if (!attempts.has(uid)) {
      const verdict = pod && judgeNow(pod);
      if (verdict?.kind === "later") return verdict.at - Date.now() + 1;
      if (pod === undefined || verdict?.kind !== "end" || now === undefined || now.signal.aborted) return undefined;
      const afterMs = await begin(pod, verdict, now, context);
      if (!attempts.has(uid)) return afterMs;
    }
    if (now === undefined) return undefined;
    const step = await attempts.step(uid, now.signal);
    if (typeof step === "number") return step;
    if (source.get(uid) === undefined) return void forget(uid);
    remember(uid, step, memory);
    return 0; // it is judged again
  };
  const controller = createController(reconcile, context.concurrency);
  const addAll = (): void => {
    for (const pod of source.all()) controller.add(podRefOf(pod).uid);
  };
  return {
    depth: () =>
      [...new Set([...controller.waiting(), ...memory.stuck.keys()])].filter((uid) => !attempts.has(uid)).length,
    changed(pod, isGone) {
      const { uid } = podRefOf(pod);
      if (isGone) forget(uid);
      else metrics.saw(uid, pod);
      attempts.changed(uid, isGone ? undefined : pod);
      if (attempts.has(uid) || (!isGone && judgeNow(pod).kind !== "leave")) controller.add(uid);
      else controller.forget(uid);
    },
    reconsider() {
      memory.handled.clear();
      addAll();
    },
    run: (signal) => controller.run(signal),
    async lead(signal) {
      term = { signal, begunAt: performance.now(), asked: new Set() };
      addAll();
      await whenAborted(signal);
      await controller.settled();
      attempts.stop();
      term = undefined;
    },
  };
}

/** Judges a pod, and remembers since when it is stuck, or only the time is missing. */
function judge(pod: KubeObject, { metrics, policy, memory }: ReconcilerContext): Verdict {
  const { uid } = podRefOf(pod);
  const { seen, stuck } = memory;
  const verdict = verdictOf(pod, policy(), knownNow(memory));
  metrics.judged(uid, verdict);
  if (verdict.kind !== "end") stuck.delete(uid);
  else if (!stuck.has(uid)) stuck.set(uid, performance.now());
  if (verdict.kind === "leave") seen.delete(uid);
  if (verdict.kind === "later" && !seen.has(uid)) seen.set(uid, Date.now());
  return verdict;
}

/** Begins an attempt at a stuck pod, or resolves with the milliseconds after which it may begin; undefined: never. */
async function begin(
  pod: KubeObject,
  verdict: StuckVerdict,
  term: Term,
  context: ReconcilerContext,
): Promise<number | undefined> {
  const { memory, attempts, isDryRun, log } = context;
  const { uid } = podRefOf(pod);
  const restMs = (memory.rests.get(uid)?.untilMs ?? 0) - performance.now();
  if (restMs > 0) return restMs;
  if (isDryRun) {
    const { why } = reportOfVerdict(verdict);
    if (!memory.said.has(uid)) log.info({ ...auditOf(pod, verdict), why, dryRun: true }, "pod is stuck");
    memory.said.add(uid);
    return undefined;
  }
  const leftMs = await inheritedMs(pod, verdict, term, context);
  if (leftMs > 0) return rest(uid, leftMs, memory);
  attempts.begin(pod, verdict);
  return undefined;
}

type StuckVerdict = Extract<Verdict, { kind: "end" }>;

/** For how long a new leader takes it that the last one may have told the sidecars of pods that become stuck. */
const INHERITED_MS = 60_000;
/** After how long the last leader's Events are read again, if the API server does not answer. */
export const UNANSWERED_MS = 5000;

/** Resolves with the milliseconds that a sidecar still has that the last leader told to quit; 0 if it told none. */
async function inheritedMs(
  pod: KubeObject,
  { containers }: StuckVerdict,
  { signal, begunAt, asked }: Term,
  { events, memory }: ReconcilerContext,
): Promise<number> {
  const ref = podRefOf(pod);
  if (asked.has(ref.uid) || (memory.stuck.get(ref.uid) ?? begunAt) >= begunAt + INHERITED_MS) return 0;
  const lastTold = await events.lastTold(ref, signal);
  if (lastTold === "unanswered") return UNANSWERED_MS;
  asked.add(ref.uid);
  return Math.min(Date.now(), lastTold ?? 0) + (containers[0]?.patienceMs ?? 0) - Date.now();
}

/** The pause before another attempt at a pod after one that found no reason to act, or was not answered. */
const disagreement: Backoff = { firstMs: 10_000, longestMs: 600_000 };

function remember(uid: string, outcome: Outcome, memory: Memory): void {
  if (outcome.kind === "stopped") return;
  if (outcome.kind === "ended" || outcome.kind === "gave-up") memory.handled.set(uid, reportOf(outcome).why);
  else rest(uid, backoffMs(memory.rests.get(uid)?.times ?? 0, disagreement, Math.random()), memory, 1);
}

function rest(uid: string, ms: number, { rests }: Memory, more = 0): number {
  rests.set(uid, { times: (rests.get(uid)?.times ?? 0) + more, untilMs: performance.now() + ms });
  return ms;
}
