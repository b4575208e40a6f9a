import { formatDuration } from "../../core/base/duration.ts";
import { describeMethod } from "../../core/reap/methods.ts";
import type { ReaperMemory, Rule } from "../../core/reap/pod-rules.ts";
import type { ReapPolicy } from "../../core/reap/policy.ts";
import {
  type Act,
  type Answer,
  type Attempt,
  type AttemptClock,
  type AttemptPolicy,
  afterAct,
  afterFailedRead,
  type Next,
  nextStep,
  type Observation,
  observationOf,
  type Result,
} from "../../core/reap/reconcile.ts";
import { eventOfAct } from "../../core/reap/report.ts";
import type { Log } from "../../system/output/log.ts";
import { deadline } from "../../system/timer.ts";
import { ApiError, isApiFailure, isForbidden, isNotFound } from "../api/api-error.ts";
import type { ApiClient, KubeObject } from "../api/client.ts";
import type { Perform } from "./act/act.ts";
import { type PodRef, pathOf } from "./act/acting.ts";
import type { PodEvents } from "./pod-events.ts";
import type { ReaperMetrics } from "./reaper-metrics.ts";

/** What a step towards the end of a pod's sidecars needs. */
export interface StepContext {
  readonly api: ApiClient;
  readonly perform: Perform;
  readonly events: Pick<PodEvents, "write">;
  readonly metrics: Pick<ReaperMetrics, "acted" | "attempted">;
  readonly policy: () => ReapPolicy;
  readonly known: (uid: string) => ReaperMemory;
  /** Returns a pod as the watch saw it last; undefined: nothing is watched, so that a pod is read every 2 s. */
  readonly watched?: ((uid: string) => KubeObject | undefined) | undefined;
  readonly pace?: Partial<Pace> | undefined;
  readonly log: Log;
}

/** The times and rounds of an attempt. */
export interface Pace extends AttemptPolicy {
  /** The longest that an act may take, in milliseconds. */
  readonly answerMs: number;
}

const usual: Pace = { rounds: 3, answerMs: 30_000, rest: { firstMs: 1000, longestMs: 60_000 } };
/** How long an act's answer may still be on its way once the watch has seen what it did. */
const LATE_MS = 1000;

/** A pod whose sidecars are being ended. */
export interface Stuck {
  /** As it was when that began. */
  readonly pod: KubeObject;
  readonly ref: PodRef;
  readonly audit: Audit;
  attempt: Attempt;
  /** Ends the act that is under way, because the pod has changed. */
  overtake?: (() => void) | undefined;
}

/** The fields that each log line about a pod has; `reason` is the verdict's rule. */
export interface Audit {
  readonly namespace: string;
  readonly pod: string;
  readonly uid: string;
  readonly job: string | undefined;
  readonly reason: Rule;
}

/** Returns what is seen of a pod that has this state. */
export function observe(pod: unknown, { ref }: Stuck, { policy, known }: StepContext): Observation {
  return observationOf(pod, ref.uid, policy(), known(ref.uid));
}

/**
 * Takes the next step: reads the pod, and does what follows, at most one act. If the watch shows that there is nothing
 * to do, the pod is not read. Rejects with the signal's reason, or on a bug.
 */
export async function stepOf(one: Stuck, signal: AbortSignal, context: StepContext): Promise<Next> {
  const cached = context.watched?.(one.ref.uid);
  const expected = cached && nextStep(one.attempt, observe(cached, one, context), clockOf(context));
  if (expected !== undefined && expected.kind !== "act") return expected;
  const seen = await read(one, signal, context);
  if ("attempt" in seen || seen.kind === "over") return seen;
  const step = nextStep({ ...one.attempt, unread: 0 }, seen, clockOf(context));
  if (step.kind !== "act" || seen.kind !== "end") return step;
  await context.events.write(one.ref, eventOfAct(step.act, seen.reason));
  signal.throwIfAborted();
  return afterAct(step.attempt, step.act, await perform(step.act, one, { signal, context }), clockOf(context));
}

function clockOf(context: StepContext): AttemptClock & Pace {
  return { ...usual, ...context.pace, now: performance.now(), chance: Math.random() };
}

/** Reads the pod. Resolves with what is seen of it, or, if it cannot be read, with what follows. */
async function read(one: Stuck, signal: AbortSignal, context: StepContext): Promise<Observation | Next> {
  try {
    return observe(await context.api.get(pathOf(one.ref), { signal, retries: 0 }), one, context);
  } catch (error) {
    if (signal.aborted || !isApiFailure(error)) throw error;
    if (isNotFound(error)) return { kind: "gone" };
    if (!isForbidden(error)) {
      const afterMs = error instanceof ApiError ? error.retryAfterMs : undefined;
      return afterFailedRead(one.attempt, clockOf(context), { why: error.message, afterMs });
    }
    return { kind: "over", outcome: { kind: "put-off", reason: error.message } };
  }
}

interface Around {
  readonly signal: AbortSignal;
  readonly context: StepContext;
}

/** Performs an act, with a log line and a metric after it, and resolves with its answer. */
async function perform(act: Act, one: Stuck, { signal, context }: Around): Promise<Answer> {
  const { answerMs } = clockOf(context);
  const overtaken = new AbortController();
  const limit = AbortSignal.timeout(answerMs);
  const startedAt = performance.now();
  const report = (result: Result): Result => {
    context.metrics.acted(act.method.kind, result.kind);
    const fields = { ...auditOf(act, one, result), tookMs: Math.round(performance.now() - startedAt) };
    context.log[result.kind === "taken" ? "info" : "warn"](fields, "asked a sidecar to quit");
    return result;
  };
  let cancel: (() => void) | undefined;
  one.overtake = () => {
    cancel ??= deadline(LATE_MS, () => overtaken.abort());
  };
  try {
    const objection = (fresh: unknown) => objectionTo(act, observe(fresh, one, context));
    const ending = AbortSignal.any([signal, overtaken.signal, limit]);
    return report(await context.perform(act, { pod: one.ref, objection, signal: ending }));
  } catch (error) {
    if (!(signal.aborted || overtaken.signal.aborted || limit.aborted)) throw error;
    report({ kind: "unavailable", why: "not waited for to its end" });
    signal.throwIfAborted();
    if (overtaken.signal.aborted) return { kind: "overtaken" };
    return { kind: "unanswered", why: `no answer within ${formatDuration(answerMs)}` };
  } finally {
    cancel?.();
    one.overtake = undefined;
  }
}

function auditOf({ container, method }: Act, { audit }: Stuck, result: Result) {
  const why = result.kind === "taken" ? undefined : result.why;
  return { ...audit, container, method: describeMethod(method), result: result.kind, why };
}

/** Returns why an act is no longer right that was decided a moment ago; undefined if it is. */
function objectionTo({ container }: Act, seen: Observation): string | undefined {
  if (seen.kind === "gone") return "the pod is gone, or another one has its name";
  if (seen.kind !== "end") return `not any more: ${seen.reason}`;
  const isNext = seen.containers[0]?.container === container;
  return isNext ? undefined : `not any more: ${container} is not what is to be ended next`;
}
