import { formatDuration } from "../../shared/core/duration.ts";
import { deadline } from "../../shared/io/timer.ts";
import type { Log } from "../../shared/output/log.ts";
import { ApiError, isApiFailure, isForbidden, isNotFound } from "../api/api-error.ts";
import type { ApiClient, KubeObject } from "../api/client.ts";
import { describeMethod } from "./core/methods.ts";
import type { ReaperMemory, Rule } from "./core/pod-rules.ts";
import type { ReapPolicy } from "./core/policy.ts";
import {
  type Answer,
  type Attempt,
  type AttemptClock,
  type AttemptPolicy,
  afterAnswer,
  afterFailedRead,
  type EndRequest,
  type Next,
  nextStep,
  type Observation,
  observationOf,
  type Result,
} from "./core/reconcile.ts";
import { eventOfAnswer } from "./core/report.ts";
import type { Send } from "./methods/send.ts";
import { type FreshPod, type PodRef, pathOf } from "./methods/target.ts";
import type { PodEvents } from "./pod-events.ts";
import type { ReaperMetrics } from "./reaper-metrics.ts";
import type { Turn } from "./throttle.ts";

/** What a step towards the end of a pod's sidecars needs. */
export interface StepContext {
  /** A client without a rate limit. */
  readonly api: Pick<ApiClient, "get">;
  /** Awaited before each read of a pod. */
  readonly turn: Turn;
  readonly send: Send;
  readonly events: PodEvents;
  readonly metrics: Pick<ReaperMetrics, "sent" | "attempted">;
  readonly policy: () => ReapPolicy;
  readonly memoryOf: (uid: string) => ReaperMemory;
  /** True: no watch tells of changes, so that a pod is read every 2 s until its sidecars have ended. */
  readonly polls: boolean;
  /** How often each method is tried if all are refused outright. Undefined: as often as otherwise. */
  readonly refusedRounds?: number | undefined;
  readonly log: Log;
}

const usual: AttemptPolicy = { rounds: 3, rest: { firstMs: 1000, longestMs: 60_000 } };
/** The longest that a request may take. */
const ANSWER_MS = 30_000;
/** How long an answer may still be on its way once the watch has seen what the request did. */
const LATE_MS = 1000;

/** A pod whose sidecars are being ended. */
export interface Stuck {
  /** As it was when that began. */
  readonly pod: KubeObject;
  readonly ref: PodRef;
  readonly audit: Audit;
  /** What the watch, or the last poll, has seen. */
  seen: Observation;
  attempt: Attempt;
  /** Ends the wait for an answer, because the pod has changed. */
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

/**
 * Takes the next step, with one request at most: what was seen last says which, and a read of the pod directly before
 * it whether it is still right. Rejects with the signal's reason, or on a bug.
 */
export async function stepOf(one: Stuck, signal: AbortSignal, context: StepContext): Promise<Next> {
  const isPolled = context.polls && (one.attempt.exiting !== undefined || one.seen.kind !== "end");
  let next = isPolled ? (await look(one, signal, context)).next : nextStep(one.attempt, one.seen, clockOf(context));
  // the read may say that another request is right
  while (next.kind === "ask") next = await sendOnce(next, one, { signal, context });
  return next;
}

function clockOf({ refusedRounds }: StepContext): AttemptClock {
  return { ...usual, refusedRounds, now: performance.now(), chance: Math.random() };
}

/** What a read of a pod has shown, and what follows. */
interface Look {
  readonly next: Next;
  /** Undefined: it could not be read. */
  readonly pod?: FreshPod;
  readonly seen?: Observation;
}

/** Reads the pod, and decides what follows. Rejects with the signal's reason, or on a bug. */
async function look(one: Stuck, signal: AbortSignal, context: StepContext): Promise<Look> {
  const { ref, attempt } = one;
  await context.turn(signal);
  const askedAt = performance.now();
  try {
    const object = await context.api.get<KubeObject>(pathOf(ref), { signal, retries: 0 });
    const seen = observationOf(object, ref.uid, context.policy(), context.memoryOf(ref.uid));
    if (context.polls) one.seen = seen;
    return { next: nextStep({ ...attempt, unread: 0 }, seen, clockOf(context)), pod: { object, askedAt }, seen };
  } catch (error) {
    if (signal.aborted || !isApiFailure(error)) throw error;
    return { next: afterFailure(error, attempt, context) };
  }
}

function afterFailure(error: Error, attempt: Attempt, context: StepContext): Next {
  if (isNotFound(error)) return { kind: "over", outcome: { kind: "gone" } };
  if (isForbidden(error)) return { kind: "over", outcome: { kind: "put-off", reason: error.message } };
  const afterMs = error instanceof ApiError ? error.retryAfterMs : undefined;
  return afterFailedRead(attempt, clockOf(context), { why: error.message, afterMs });
}

interface Deps {
  readonly signal: AbortSignal;
  readonly context: StepContext;
}

/**
 * Sends a request, if a read of the pod confirms it, and resolves with what follows from the answer, or from that read.
 * There is an Event if the sidecar may have heard it.
 */
async function sendOnce(planned: SendStep, one: Stuck, deps: Deps): Promise<Next> {
  const { request } = planned;
  const { context } = deps;
  let last: Look | undefined;
  let confirmed: Confirmed | undefined;
  const answer = await answerTo(request, one, {
    ...deps,
    isConfirmed: () => confirmed !== undefined,
    async confirm(signal) {
      last = await look(one, signal, context);
      const { next, pod, seen } = last;
      if (next.kind !== "ask" || seen?.kind !== "end" || !isSame(next.request, request)) return undefined;
      confirmed = { attempt: next.attempt, reason: seen.reason };
      return pod;
    },
  });
  if (answer === undefined) return last?.next ?? nextStep(one.attempt, one.seen, clockOf(context));
  if (confirmed === undefined && context.polls) {
    // it failed before the pod was read, which may be gone: no watch tells
    const { next } = await look(one, deps.signal, context);
    if (next.kind !== "ask") return next;
  }
  const next = afterAnswer(confirmed?.attempt ?? planned.attempt, request, answer, clockOf(context));
  const event = confirmed && eventOfAnswer(request, confirmed.reason, answer);
  if (event !== undefined) await context.events.write(one.ref, event);
  return next;
}

type SendStep = Extract<Next, { kind: "ask" }>;

/** What a read of the pod said that has confirmed a request. */
interface Confirmed {
  readonly attempt: Attempt;
  /** Why the pod is stuck. */
  readonly reason: string;
}

function isSame(one: EndRequest, other: EndRequest): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

interface Sending extends Deps {
  readonly confirm: (signal: AbortSignal) => Promise<FreshPod | undefined>;
  readonly isConfirmed: () => boolean;
}

/**
 * Sends a request, with a log line and a metric after it. Resolves with undefined if it was not sent, because the pod
 * has changed.
 */
async function answerTo(request: EndRequest, one: Stuck, sending: Sending): Promise<Answer | undefined> {
  const { signal, context, confirm } = sending;
  const overtaken = new AbortController();
  const limit = AbortSignal.timeout(ANSWER_MS);
  const ending = AbortSignal.any([signal, overtaken.signal, limit]);
  const startedAt = performance.now();
  const report = (result: Result): void => {
    context.metrics.sent(request.method.kind, result.kind);
    const fields = { ...auditOf(request, one, result), tookMs: Math.round(performance.now() - startedAt) };
    context.log[result.kind === "taken" ? "info" : "warn"](fields, "asked a sidecar to exit");
  };
  let cancel: (() => void) | undefined;
  one.overtake = () => {
    cancel ??= deadline(LATE_MS, () => overtaken.abort());
  };
  try {
    const result = await context.send(request, { pod: one.ref, confirm: () => confirm(ending), signal: ending });
    if (result?.kind === "unanswered") report({ ...result, kind: "unavailable" });
    else if (result !== undefined) report(result);
    return result;
  } catch (error) {
    if (!ending.aborted) throw error;
    if (overtaken.signal.aborted && !sending.isConfirmed()) return undefined;
    report({ kind: "unavailable", why: "not waited for to its end" });
    signal.throwIfAborted();
    if (overtaken.signal.aborted) return { kind: "overtaken" };
    return { kind: "unanswered", why: `no answer within ${formatDuration(ANSWER_MS)}` };
  } finally {
    cancel?.();
    one.overtake = undefined;
  }
}

function auditOf({ container, method }: EndRequest, { audit }: Stuck, result: Result) {
  const why = result.kind === "taken" ? undefined : result.why;
  return { ...audit, container, method: describeMethod(method), result: result.kind, why };
}
