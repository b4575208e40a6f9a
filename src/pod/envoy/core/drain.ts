import type { InFlight } from "./in-flight.ts";

/**
 * The state of one Envoy's drain, a pure state machine: failing-health -> accepting -> draining-listeners -> counting
 * -> over. Contour's, Envoy Gateway's and Istio's own shutdowns agree on this order; unlike theirs, this one is bounded
 * whatever happens. Beside a native sidecar it is draining-listeners -> failing-health -> accepting -> counting.
 */
export type DrainState =
  | ({ readonly phase: "failing-health" } & Beginning)
  | { readonly phase: "accepting" }
  | ({ readonly phase: "draining-listeners" } & Beginning)
  | {
      readonly phase: "counting";
      /** How many counts have failed in a row. */
      readonly failures: number;
      /** The result of the last count that succeeded. */
      readonly left: InFlight | undefined;
    }
  /** The work in flight cannot be counted: the drain lasts until its bound, as Istio's lasts a fixed time. */
  | { readonly phase: "sitting-out" }
  /** The first request was refused: connections are accepted for the minimum, as without an Envoy. */
  | { readonly phase: "not-there" }
  | { readonly phase: "over"; readonly outcome: DrainOutcome };

interface Beginning {
  readonly isMinimumOver: boolean;
}

/** How a drain ended. */
export type DrainOutcome =
  | { readonly kind: "drained" }
  /** The bound was reached while `left` was in flight. */
  | { readonly kind: "out of time"; readonly left: InFlight }
  /** The bound was reached, and what was left could not be counted. */
  | { readonly kind: "not counted" }
  /** Envoy had exited before the drain: nothing was left to drain. */
  | { readonly kind: "gone" }
  /** Envoy exited during the drain. `left`: the result of the last count; undefined if there was none. */
  | { readonly kind: "exited"; readonly left: InFlight | undefined }
  /** The first request was refused, and Envoy is not known to have been up. */
  | { readonly kind: "not there" }
  /** The drain was ended from outside (the event `cut`). */
  | { readonly kind: "cut short" };

/**
 * `minimum`: minMs are over; `poll`: a count is due; `last look`: the bound is 250 ms away; `bound`: boundMs are over.
 */
export type DrainDeadline = "minimum" | "poll" | "last look" | "bound";

/** A request to Envoy's admin interface. */
export type DrainRequest = "fail-health" | "drain-listeners" | "count";

/** What happened to a drain: the result of an action, a deadline, or a caller's wish. */
export type DrainEvent =
  | { readonly kind: "done"; readonly request: "fail-health" | "drain-listeners" }
  | { readonly kind: "counted"; readonly inFlight: InFlight }
  /** Envoy did not answer, or not with what was asked for. `isRefused`: the connection was refused. */
  | { readonly kind: "failed"; readonly request: DrainRequest; readonly isRefused: boolean }
  | { readonly kind: "deadline"; readonly of: DrainDeadline }
  /** The drain is to end now, for example at a second stop signal. */
  | { readonly kind: "cut" };

/** What the caller of `begin` and `step` is to do. */
export type DrainAction =
  | { readonly kind: "ask"; readonly request: DrainRequest }
  /** Start a timer of `ms`, after which the deadline is an event. */
  | { readonly kind: "arm"; readonly deadline: DrainDeadline; readonly ms: number }
  /** Ask nothing more, and wait for the bound. */
  | { readonly kind: "sit-out" }
  | { readonly kind: "end"; readonly outcome: DrainOutcome };

/** The settings of one drain. */
export interface DrainPolicy {
  /** The drain ends at the latest so many milliseconds after its start. */
  readonly boundMs: number;
  /**
   * Nothing is counted before so many milliseconds after the start, so the drain does not end before, unless Envoy has
   * exited.
   */
  readonly minMs: number;
  /** The drain ends once no more requests and connections than this are in flight. */
  readonly maxInFlight: number;
  /**
   * True for native sidecars: their inbound listeners are drained at the start, too. The health checks fail all the
   * same, because only then is every client told to close its connection: draining listeners tell some, more and more
   * over --drain-time-s, which is 600 s (Envoy 1.40, drain_manager_impl.cc).
   */
  readonly isListenersFirst: boolean;
  /**
   * The sidecar was up before. If the first request is refused, it has gone then, perhaps because it stops with
   * its app.
   */
  readonly wasUp: boolean;
}

type Next = readonly [DrainState, readonly DrainAction[]];

const POLL_MS = 1000;
/** A last count so long before the bound keeps what is reported as left from being a second old. */
const LAST_LOOK_MS = 250;
const MAX_FAILURES = 5;

/** Returns the drain's first state, and its first actions: to start the deadlines and to send the first request. */
export function begin({ boundMs, minMs, isListenersFirst }: DrainPolicy): Next {
  const deadlines: readonly DrainAction[] = [
    { kind: "arm", deadline: "bound", ms: boundMs },
    { kind: "arm", deadline: "last look", ms: Math.max(0, boundMs - LAST_LOOK_MS) },
    { kind: "arm", deadline: "minimum", ms: minMs },
  ];
  const first = isListenersFirst ? drainListeners : failHealth;
  const [state, actions] = first({ isMinimumOver: false });
  return [state, [...deadlines, ...actions]];
}

/**
 * Returns the drain's next state after an event, and the actions to perform. An event that does not belong to the
 * state's phase changes nothing.
 */
export function step(state: DrainState, event: DrainEvent, policy: DrainPolicy): Next {
  if (state.phase === "over") return [state, []];
  if (event.kind === "cut") return over({ kind: "cut short" });
  if (event.kind === "deadline" && event.of === "bound") return outOfTime(state);
  switch (state.phase) {
    case "failing-health":
      return failingHealth(state, event, policy);
    case "accepting":
      return isDeadline(event, "minimum") ? afterMinimum(policy) : [state, []];
    case "draining-listeners":
      return drainingListeners(state, event, policy);
    case "counting":
      return counting(state, event, policy);
    case "sitting-out":
      return [state, []];
    case "not-there":
      return isDeadline(event, "minimum") ? over({ kind: "not there" }) : [state, []];
  }
}

type In<P extends DrainState["phase"]> = Extract<DrainState, { phase: P }>;

function failHealth({ isMinimumOver }: Beginning): Next {
  return [{ phase: "failing-health", isMinimumOver }, [{ kind: "ask", request: "fail-health" }]];
}

function failingHealth(state: In<"failing-health">, event: DrainEvent, policy: DrainPolicy): Next {
  if (isDeadline(event, "minimum")) return [{ ...state, isMinimumOver: true }, []];
  if (!isAnswerTo(event, "fail-health")) return [state, []];
  if (isRefusal(event)) return policy.isListenersFirst ? exited() : absent(state, policy);
  return state.isMinimumOver ? afterMinimum(policy) : [{ phase: "accepting" }, []];
}

/** An Envoy that was up before has gone, and no connection arrives through it any more. */
function absent({ isMinimumOver }: Beginning, { wasUp }: DrainPolicy): Next {
  if (wasUp) return over({ kind: "gone" });
  return isMinimumOver ? over({ kind: "not there" }) : [{ phase: "not-there" }, []];
}

function exited(): Next {
  return over({ kind: "exited", left: undefined });
}

function afterMinimum({ isListenersFirst }: DrainPolicy): Next {
  return isListenersFirst ? beginCounting() : drainListeners({ isMinimumOver: true });
}

function drainListeners({ isMinimumOver }: Beginning): Next {
  return [{ phase: "draining-listeners", isMinimumOver }, [{ kind: "ask", request: "drain-listeners" }]];
}

function drainingListeners(state: In<"draining-listeners">, event: DrainEvent, policy: DrainPolicy): Next {
  if (isDeadline(event, "minimum")) return [{ ...state, isMinimumOver: true }, []];
  if (!isAnswerTo(event, "drain-listeners")) return [state, []];
  if (isRefusal(event)) return policy.isListenersFirst ? absent(state, policy) : exited();
  return policy.isListenersFirst ? failHealth(state) : beginCounting();
}

function beginCounting(): Next {
  return [{ phase: "counting", failures: 0, left: undefined }, count];
}

const count: readonly DrainAction[] = [{ kind: "ask", request: "count" }];
const countLater: readonly DrainAction[] = [{ kind: "arm", deadline: "poll", ms: POLL_MS }];

function counting(state: In<"counting">, event: DrainEvent, policy: DrainPolicy): Next {
  if (isDeadline(event, "poll") || isDeadline(event, "last look")) return [state, count];
  if (event.kind === "counted") {
    const left = event.inFlight;
    if (left.requests + left.connections <= policy.maxInFlight) return over({ kind: "drained" });
    return [{ ...state, failures: 0, left }, countLater];
  }
  if (!isAnswerTo(event, "count")) return [state, []];
  if (isRefusal(event)) return over({ kind: "exited", left: state.left });
  const failures = state.failures + 1;
  if (failures < MAX_FAILURES) return [{ ...state, failures }, countLater];
  return [{ phase: "sitting-out" }, [{ kind: "sit-out" }]];
}

function outOfTime(state: Exclude<DrainState, { phase: "over" }>): Next {
  const left = state.phase === "counting" && state.failures === 0 ? state.left : undefined;
  return over(left === undefined ? { kind: "not counted" } : { kind: "out of time", left });
}

function over(outcome: DrainOutcome): Next {
  return [{ phase: "over", outcome }, [{ kind: "end", outcome }]];
}

function isDeadline(event: DrainEvent, of: DrainDeadline): boolean {
  return event.kind === "deadline" && event.of === of;
}

function isAnswerTo(
  event: DrainEvent,
  to: DrainRequest,
): event is Extract<DrainEvent, { readonly request: DrainRequest }> {
  return (event.kind === "done" || event.kind === "failed") && event.request === to;
}

function isRefusal(event: DrainEvent): boolean {
  return event.kind === "failed" && event.isRefused;
}
