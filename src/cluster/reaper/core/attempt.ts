import { formatDuration } from "../../../shared/core/duration.ts";
import { type Backoff, backoffMs } from "../../core/backoff.ts";
import type { Ending, Method } from "./methods.ts";
import { endedRules, lastingRules } from "./pod-rules.ts";
import type { PodView } from "./pod-view.ts";
import type { Verdict } from "./verdict.ts";

/** A request to end the sidecar in `container` by one method. */
export interface EndRequest {
  readonly container: string;
  readonly method: Method;
  /** Milliseconds that the sidecar then has to exit. */
  readonly patienceMs: number;
}

/** A request that has not worked. */
export interface Tried extends EndRequest {
  readonly round: number;
  readonly why: string;
  /** `unasked`: a permission was missing, say, so the sidecar was not asked. Undefined: it may have heard the request. */
  readonly refusal?: "unasked" | "outright";
}

/** What is remembered of a stuck pod between two turns. Times are in milliseconds of a monotonic clock. */
export interface Attempt {
  /** From 1. In each round every method is tried once. */
  readonly round: number;
  readonly tried: readonly Tried[];
  /** The requests that were taken. */
  readonly taken: readonly EndRequest[];
  /** Failed reads and `unavailable` requests since the last one that was answered. Each makes the next pause longer. */
  readonly failures: number;
  /** Requests in a row with the result `unavailable`. */
  readonly misses: number;
  /** Failed reads in a row. */
  readonly unread: number;
  /** The last request, if it was not answered: the sidecar may have heard it. */
  readonly unanswered?: EndRequest;
  /** The request that was taken last. Its sidecar has until then to exit. */
  readonly exiting?: { readonly request: EndRequest; readonly untilMs: number } | undefined;
  /** No request is sent before this time. */
  readonly restUntilMs: number;
}

/** What was seen of the pod. `gone`: there is no pod of that name, or another pod has it. */
export type Observation = Verdict | { readonly kind: "gone" };

/** What came of a request. */
export type EndResult =
  /** It was accepted, or its connection was cut by the sidecar's own end. */
  | { readonly kind: "taken" }
  /** The method does not work here: there is no such command, 404, ...; or, unasked, now: not allowed, too slow. */
  | { readonly kind: "refused"; readonly why: string; readonly isUnasked?: true }
  /** The API server or the kubelet did not answer, or asked to come back after `afterMs` at least. This is no try. */
  | { readonly kind: "unavailable"; readonly why: string; readonly afterMs?: number };

/** A request took too long. It is a try: the sidecar may have heard it. The log and the metrics say `unavailable`. */
export type Unanswered = { readonly kind: "unanswered"; readonly why: string };

/** A result, or the end of a request without one. */
export type Answer = EndResult | Unanswered;

/** How an attempt ends. */
export type Outcome =
  /** The sidecars have ended, after these requests. */
  | { readonly kind: "ended"; readonly requests: readonly EndRequest[] }
  | { readonly kind: "gone" }
  /** The pod is not stuck any more, or not to be reaped. */
  | { readonly kind: "left"; readonly reason: string }
  | { readonly kind: "gave-up"; readonly reason: string; readonly tried: readonly Tried[] }
  /** It cannot be done now: a kubelet does not answer, say, or a permission is missing. Others have their turn first. */
  | { readonly kind: "put-off"; readonly reason: string };

/** What follows for a pod: a request, another turn at a time, or the outcome. */
export type Next =
  | { readonly kind: "ask"; readonly request: EndRequest; readonly attempt: Attempt }
  | { readonly kind: "wait"; readonly untilMs: number; readonly attempt: Attempt }
  | { readonly kind: "over"; readonly outcome: Outcome };

/** How often and how long an attempt tries. */
export interface AttemptPolicy {
  /** How often each method is tried. */
  readonly rounds: number;
  /** How often, if all are refused outright. Undefined: as often. */
  readonly refusedRounds?: number | undefined;
  /** The pauses after a request without an answer, and between rounds. */
  readonly pause: Backoff;
}

/** The policy at one moment. */
export interface AttemptClock extends AttemptPolicy {
  /** Milliseconds of a monotonic clock. */
  readonly now: number;
  /** A random number from 0 to 1, which varies the length of pauses. */
  readonly chance: number;
}

/** What is remembered of a pod at first. */
export const firstAttempt: Attempt = {
  round: 1,
  tried: [],
  taken: [],
  failures: 0,
  misses: 0,
  unread: 0,
  restUntilMs: 0,
};

/**
 * Returns what is seen of a pod that a watch of running pods no longer has, given its last state there. Such a watch does
 * not say how it went (kubernetes apiserver pkg/storage/cacher/cache_watcher.go:389), but one that is deleted, by force
 * too, is first marked so.
 */
export function observationOfLost({ isDeleted }: PodView): Observation {
  return isDeleted ? { kind: "gone" } : { kind: "leave", rule: "over", reason: "it no longer runs" };
}

/** Milliseconds after which a pod is read again while another reaper's container is at work in it. */
const BEING_ENDED_MS = 5000;
/** So many requests or reads in a row without an answer put the pod off: about a minute of pauses. */
const MOST_MISSES = 7;

/**
 * Decides what follows for a stuck pod that is seen like this. One sidecar is ended after the other, and one method is
 * tried after the other, each with its patience.
 */
export function nextStep(before: Attempt, seen: Observation, clock: AttemptClock): Next {
  if (seen.kind === "gone") return over({ kind: "gone" });
  const { exiting } = before;
  const isThere = ({ container }: Ending) => container === exiting?.request.container;
  const isBeingEnded = seen.kind === "leave" && seen.rule === "being-ended";
  const stillRuns = exiting !== undefined && (isBeingEnded || (seen.kind === "end" && seen.containers.some(isThere)));
  if (stillRuns && clock.now < exiting.untilMs) return wait(before, exiting.untilMs);
  const attempt = exiting === undefined ? before : { ...before, exiting: undefined };
  const why = `taken, and still there ${formatDuration(exiting?.request.patienceMs ?? 0)} later`;
  const spent = stillRuns ? spend(attempt, exiting.request, why) : attempt;
  if (isBeingEnded) return wait(spent, clock.now + BEING_ENDED_MS);
  return seen.kind === "end" ? nextRequest(spent, seen.containers, clock) : over(outcomeOf(attempt, seen));
}

/** Returns the outcome for a pod that is not stuck any more. */
function outcomeOf({ taken, unanswered, tried }: Attempt, { rule, reason }: Verdict): Outcome {
  const requests = taken.length > 0 || unanswered === undefined ? taken : [unanswered];
  if (requests.length > 0 && endedRules.has(rule)) return { kind: "ended", requests };
  if (requests.length > 0 && lastingRules.has(rule)) return { kind: "gave-up", reason, tried };
  return { kind: "left", reason };
}

/**
 * Takes the first method that this round has not tried yet; if there is none, begins another round; after the last
 * round, gives up. If no method came to ask the sidecar, the pod is put off instead.
 */
function nextRequest(attempt: Attempt, endings: readonly Ending[], clock: AttemptClock): Next {
  const { tried, round } = attempt;
  const [ending] = endings;
  if (ending === undefined) return over({ kind: "left", reason: "nothing of it is to be ended" });
  if (clock.now < attempt.restUntilMs) return wait(attempt, attempt.restUntilMs);
  const { container, patienceMs } = ending;
  const spent = new Set(tried.filter((each) => each.round === round && each.container === container).map(keyOf));
  const method = ending.methods.find((each) => !spent.has(JSON.stringify(each)));
  if (method !== undefined) return { kind: "ask", request: { container, method, patienceMs }, attempt };
  const isAll = (kind: Tried["refusal"]) => tried.length > 0 && tried.every(({ refusal }) => refusal === kind);
  const rounds = isAll("outright") ? (clock.refusedRounds ?? clock.rounds) : clock.rounds;
  if (round < rounds) return backOff({ ...attempt, round: round + 1 }, clock);
  if (isAll("unasked")) return over({ kind: "put-off", reason: tried.at(-1)?.why ?? "" });
  return over({ kind: "gave-up", reason: reasonToGiveUp(ending, tried), tried });
}

function reasonToGiveUp({ container, lacksImage }: Ending, tried: readonly Tried[]): string {
  const kinds = tried.flatMap(({ method, ...of }) => (of.container === container ? [method.kind] : []));
  const all = [...new Set(kinds)].join(", ");
  const more = lacksImage ? "; --image IMAGE allows one more, an ephemeral container" : "";
  return `${container} still runs after all methods (${all})${more}; if its app is done, delete the pod (its Job counts that as a failure)`;
}

/** Identifies a method. Its description would not do: it leaves out secrets, so two methods may share it. */
function keyOf({ method }: EndRequest): string {
  return JSON.stringify(method);
}

function spend(attempt: Attempt, request: EndRequest, why: string, refusal?: Tried["refusal"]): Attempt {
  const tried: Tried = { ...request, round: attempt.round, why, ...(refusal && { refusal }) };
  return { ...attempt, tried: [...attempt.tried, tried] };
}

/** Decides what follows once a request was answered, or ended without an answer. */
export function afterAnswer(attempt: Attempt, request: EndRequest, answer: Answer, clock: AttemptClock): Next {
  switch (answer.kind) {
    case "taken": {
      const exiting = { request, untilMs: clock.now + request.patienceMs };
      const { unanswered: _, ...others } = attempt;
      return wait({ ...others, failures: 0, misses: 0, taken: [...attempt.taken, request], exiting }, exiting.untilMs);
    }
    case "refused": {
      const spent = spend(attempt, request, answer.why, answer.isUnasked ? "unasked" : "outright");
      return wait({ ...spent, failures: 0, misses: 0 }, clock.now);
    }
    case "unanswered":
      return wait({ ...spend(attempt, request, answer.why), unanswered: request }, clock.now);
    case "unavailable": {
      const misses = attempt.misses + 1;
      if (misses === MOST_MISSES) return over({ kind: "put-off", reason: answer.why });
      const missed = { ...attempt, failures: attempt.failures + 1, misses, unanswered: request };
      return backOff(missed, clock, answer.afterMs);
    }
  }
}

/** Decides what follows once the pod could not be read. `afterMs`: when the API server asked to come back. */
export function afterFailedRead(
  attempt: Attempt,
  clock: AttemptClock,
  { why, afterMs }: { readonly why: string; readonly afterMs?: number | undefined },
): Next {
  const unread = attempt.unread + 1;
  if (unread === MOST_MISSES) return over({ kind: "put-off", reason: why });
  return backOff({ ...attempt, failures: attempt.failures + 1, unread }, clock, afterMs);
}

function backOff(attempt: Attempt, { now, pause, chance }: AttemptClock, atLeastMs = 0): Next {
  // the pause between rounds is longer, so that a user has time to correct something
  const times = attempt.failures + 3 * (attempt.round - 1);
  const restUntilMs = now + Math.max(atLeastMs, backoffMs(times, pause, chance));
  return wait({ ...attempt, restUntilMs }, restUntilMs);
}

/** Returns that a pod's next step follows at this time. */
export function wait(attempt: Attempt, untilMs: number): Next {
  return { kind: "wait", untilMs, attempt };
}

function over(outcome: Outcome): Next {
  return { kind: "over", outcome };
}
