import { formatDuration } from "../../shared/core/duration.ts";
import type { Log } from "../../shared/output/log.ts";
import { ApiError, isApiFailure, isForbidden, isNotFound } from "../api/api-error.ts";
import type { ApiClient } from "../api/client.ts";
import type { Pod } from "../api/core/objects.ts";
import type { Turn } from "../controller/throttle.ts";
import {
  type Answer,
  type Attempt,
  type AttemptClock,
  type AttemptPolicy,
  afterAnswer,
  afterFailedRead,
  type EndRequest,
  type EndResult,
  type Next,
  nextStep,
  type Observation,
  observationOfLost,
  wait,
} from "./core/attempt.ts";
import { describeMethod, type Method } from "./core/methods.ts";
import { viewOf } from "./core/pod-view.ts";
import type { ReapPolicy } from "./core/policy.ts";
import { eventOfAnswer } from "./core/report.ts";
import { verdictOf } from "./core/verdict.ts";
import type { Send } from "./methods/send.ts";
import { type FreshPod, pathOf } from "./methods/target.ts";
import type { PodEvents } from "./pod-events.ts";
import { auditOf, memoryOf, type PodRecord } from "./pod-record.ts";
import type { ReaperMetrics } from "./reaper-metrics.ts";

/** What a step towards the end of a pod's sidecars needs. */
export interface AttemptContext {
  /** A client without a rate limit and without retries. */
  readonly api: Pick<ApiClient, "get">;
  /** Awaited for each request to the API server, before the pod is read. */
  readonly turn: Turn;
  readonly send: Send;
  readonly events: PodEvents;
  readonly metrics?: Pick<ReaperMetrics, "sent">;
  readonly policy: () => ReapPolicy;
  /** No watch tells of changes (--once): the pod is read at each step. */
  readonly isOnce: boolean;
  readonly log: Log;
}

const usual: AttemptPolicy = { rounds: 3, pause: { firstMs: 1000, longestMs: 60_000 } };
/** The longest time for an answer. */
const ANSWER_MS = 10_000;

/** A step that is taken. */
interface Step {
  readonly record: PodRecord;
  readonly attempt: Attempt;
  readonly startedAt: number;
  readonly signal: AbortSignal;
  readonly context: AttemptContext;
}

/**
 * Takes the next step, with one request to a sidecar at most. What was seen last tells whether one is due; which, and
 * whether, a read of the pod directly before it. Rejects with the signal's reason, or on a bug.
 */
export async function takeStep(given: Omit<Step, "startedAt">): Promise<Next> {
  const step: Step = { ...given, startedAt: performance.now() };
  const { record, attempt, signal, context } = step;
  signal.throwIfAborted();
  const seen = record.isGone ? observationOfLost(record.pod) : record.verdict;
  const due = nextStep(attempt, seen, clockOf(context));
  if (due.kind !== "ask" && !context.isOnce) return due;
  const requests = due.kind === "ask" ? requestsOf(due.request.method) : 0;
  // the turns of the look and of the requests: nothing waits in between
  for (let turns = 0; turns <= requests; turns++) await context.turn(signal);
  const look = await lookAt(step);
  if (!isToAsk(look)) return look.next;
  return due.kind === "ask" ? await ask(look, step) : wait(look.next.attempt, performance.now());
}

function requestsOf(method: Method): number {
  return method.kind === "port-forward" ? method.requests.length : 1;
}

function clockOf({ isOnce }: AttemptContext): AttemptClock {
  // who waits for the end of the command gains nothing from the same answer again
  return { ...usual, refusedRounds: isOnce ? 1 : undefined, now: performance.now(), chance: Math.random() };
}

/** What a read of the pod has shown, and what follows. */
interface Look {
  readonly next: Next;
  /** Undefined: it could not be read. */
  readonly fresh?: FreshPod;
  readonly seen?: Observation;
}

/** A look by which a sidecar is to be asked to exit. */
interface LookToAsk {
  readonly next: Extract<Next, { kind: "ask" }>;
  readonly fresh: FreshPod;
  readonly seen: Extract<Observation, { kind: "end" }>;
}

function isToAsk(look: Look | LookToAsk): look is LookToAsk {
  return look.next.kind === "ask" && look.seen?.kind === "end";
}

/** Reads the pod, and decides what follows. Rejects with the signal's reason, or on a bug. */
async function lookAt({ record, attempt, signal, context }: Step): Promise<Look> {
  const askedAt = performance.now();
  try {
    const object = await context.api.get<Pod>(pathOf(record.pod), { signal });
    const pod = viewOf(object);
    if (pod.uid !== record.pod.uid) return { next: nextStep(attempt, { kind: "gone" }, clockOf(context)) }; // kuma#13617
    const seen = verdictOf(pod, context.policy(), memoryOf(record));
    if (context.isOnce) Object.assign(record, { pod, verdict: seen });
    const next = nextStep({ ...attempt, unread: 0 }, seen, clockOf(context));
    return { next, fresh: { object, pod, askedAt }, seen };
  } catch (error) {
    if (signal.aborted || !isApiFailure(error)) throw error;
    return { next: afterFailure(error, attempt, context) };
  }
}

function afterFailure(error: Error, attempt: Attempt, context: AttemptContext): Next {
  if (isNotFound(error)) return { kind: "over", outcome: { kind: "gone" } };
  if (isForbidden(error)) return { kind: "over", outcome: { kind: "put-off", reason: error.message } };
  const afterMs = error instanceof ApiError ? error.retryAfterMs : undefined;
  return afterFailedRead(attempt, clockOf(context), { why: error.message, afterMs });
}

/**
 * Sends the request that a look has decided, and resolves with what follows from the answer. There is an Event if the
 * sidecar may have heard it.
 */
async function ask({ next: { request, attempt }, seen, fresh }: LookToAsk, step: Step): Promise<Next> {
  const { context, record } = step;
  const answer = await answerTo(request, fresh, step);
  const next = afterAnswer(attempt, request, answer, clockOf(context));
  const event = eventOfAnswer(request, seen.reason, answer);
  if (event !== undefined) await context.events.write(record.pod, event);
  return next;
}

/** Sends a request, with a log line and a metric after it. */
async function answerTo(
  request: EndRequest,
  fresh: FreshPod,
  { record, startedAt, signal, context }: Step,
): Promise<Answer> {
  const ending = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]);
  const tell = (result: EndResult): void => {
    const { method, container } = request;
    context.metrics?.sent(method.kind, result.kind);
    const why = result.kind === "taken" ? undefined : result.why;
    const asked = { container, method: describeMethod(method), result: result.kind, why };
    const fields = { ...auditOf(record.pod), ...asked, tookMs: Math.round(performance.now() - startedAt) };
    context.log[result.kind === "taken" ? "info" : "warn"](fields, "asked a sidecar to exit");
  };
  try {
    const result = await context.send(request, { ...fresh, signal: ending });
    tell(result.kind === "unanswered" ? { ...result, kind: "unavailable" } : result);
    return result;
  } catch (error) {
    if (!ending.aborted) throw error;
    tell({ kind: "unavailable", why: "not waited for to its end" });
    signal.throwIfAborted();
    return { kind: "unanswered", why: `no answer within ${formatDuration(ANSWER_MS)}` };
  }
}
