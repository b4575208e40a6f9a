import { quitRefusal, quitUnreachable } from "./quit.ts";
import type { Sidecar } from "./sidecar.ts";

/**
 * The life of one quit, as a pure state machine: asking -> resting -> asking ... -> watching -> over. What was heard is repeated
 * twice at the most, what nobody heard until time is up. A sidecar that has taken the quit is watched until it is gone.
 */
export type State =
  | (Asked & { readonly phase: "asking" | "resting" | "looking" })
  | { readonly phase: "watching"; readonly taken: Taken }
  | { readonly phase: "over"; readonly result: Result };

interface Asked {
  /** At its second place (`QuitRequest.otherwise`). */
  readonly isElsewhere: boolean;
  /** Attempts that were heard: answered with 5xx, or cut off before their answer. */
  readonly heard: number;
  /** Attempts in a row where nobody listened. */
  readonly refusals: number;
  /** Attempts that nobody heard, for the rests between them. */
  readonly misses: number;
  /** Whether an attempt was cut off: the sidecar may have ended because of it. */
  readonly wasCut: boolean;
  /** What the last attempt brought. */
  readonly last: Last | undefined;
}

type Last = Pick<Extract<Event, { kind: "answered" }>, "kind" | "status"> | Extract<Event, { kind: "failed" }>;

/** What was answered, and what it means where the sidecar is still there when time is up. */
interface Taken {
  readonly isElsewhere: boolean;
  readonly status?: number;
  /** It was cut off: only its end tells that the quit was heard. */
  readonly why?: string;
}

/** What became of it. */
export interface Result {
  /** The sidecar took it, and is gone where that can be seen, or leaves by itself. */
  readonly ok: boolean;
  /** It took it, or was gone before: nothing more is to be done about it. */
  readonly isTaken: boolean;
  readonly outcome: string;
  readonly status?: number;
}

export type Event =
  | { readonly kind: "answered"; readonly status: number }
  /** `refused`: nobody listens there; `unreachable`, `late`: nobody heard it; `broken`: somebody did, and gave no answer. */
  | { readonly kind: "failed"; readonly why: "refused" | "unreachable" | "late" | "broken"; readonly message: string }
  | { readonly kind: "rested" }
  /** Why nobody listens: what its readiness tells. */
  | { readonly kind: "looked"; readonly life: Life }
  /** Nobody listens any more where it was asked. */
  | { readonly kind: "gone" }
  /** Half of the time is over. */
  | { readonly kind: "half" }
  /** Whether there is a process that could be signalled instead. */
  | { readonly kind: "searched"; readonly isFound: boolean; readonly askedMs: number }
  /** Time is up; `askedMs`: since when the last attempt is under way. */
  | { readonly kind: "bound"; readonly askedMs: number };

export type Life = "gone" | "leaving" | "ready" | "unknown";

export type Action =
  | { readonly kind: "ask"; readonly isElsewhere: boolean }
  | { readonly kind: "rest"; readonly ms: number }
  | { readonly kind: "look" }
  | { readonly kind: "watch"; readonly isElsewhere: boolean }
  | { readonly kind: "search" };

export interface QuitMachinePolicy {
  readonly name: Sidecar["name"];
  /** When it goes after its answer, at its first place and at its second; undefined: at once. */
  readonly leaves?: string | undefined;
  readonly leavesElsewhere?: string | undefined;
  readonly closesFirst: boolean;
  readonly hasOtherwise: boolean;
  /** It must not be repeated once it may have been heard. */
  readonly isOnce: boolean;
  /** The sidecar has been up: where nobody listens any more, it is gone, not late. */
  readonly wasReady: boolean;
  /** Processes are signalled where it is not taken. */
  readonly hasLastResort: boolean;
}

export type Step = readonly [State, readonly Action[]];

/** The rests before a quit that was heard is repeated. */
const HEARD_REST_MS = [200, 1000];
const LONGEST_REST_MS = 250;
/** Nobody listens where somebody did: three tries are enough to be sure. */
const SURE = 3;
/** An attempt that is younger than this when time is up would have ended as the one before. */
const SHORT_MS = 100;
const REFUSED = "connection refused";

/** Returns the quit's first state: it sends the request. */
export function begin(): Step {
  const nothing = { isElsewhere: false, heard: 0, refusals: 0, misses: 0, wasCut: false, last: undefined };
  return ask(nothing, false);
}

/**
 * Returns the quit's next state after an event, and what to do in it. An event that does not belong to the phase changes nothing.
 */
export function step(state: State, event: Event, policy: QuitMachinePolicy): Step {
  switch (state.phase) {
    case "asking":
      if (event.kind === "answered") return answered(state, event.status, policy);
      return event.kind === "failed" ? failed(state, event, policy) : timed(state, event, policy);
    case "resting":
      return event.kind === "rested" ? ask(state, false) : timed(state, event, policy);
    case "looking":
      if (event.kind === "looked") return unreachable(event.life, policy);
      return event.kind === "bound" ? unreachable("unknown", policy) : [state, []];
    case "watching":
      return watching(state, event, policy);
    case "over":
      return [state, []];
  }
}

function ask(asked: Asked, isElsewhere: boolean): Step {
  return [{ ...asked, phase: "asking", isElsewhere }, [{ kind: "ask", isElsewhere }]];
}

function answered(state: Asked, status: number, policy: QuitMachinePolicy): Step {
  const { isElsewhere } = state;
  const outcome = quitRefusal(policy.name, { status });
  if (outcome === undefined) {
    // nobody knows of another program that it should go
    if (policy.name === "custom") return over({ ok: true, isTaken: true, outcome: "answered", status });
    return watch({ isElsewhere, status });
  }
  const mayRepeat = status >= 500 && !policy.isOnce;
  if (!mayRepeat) return over({ ok: false, isTaken: false, outcome, status });
  return again({ ...state, refusals: 0, last: { kind: "answered", status } }, policy);
}

function failed(state: Asked, event: Extract<Event, { kind: "failed" }>, policy: QuitMachinePolicy): Step {
  const { why, message } = event;
  if (why === "refused") return refused({ ...state, last: event }, policy);
  const seen: Asked = { ...state, refusals: 0, last: event };
  // it may have been heard, and must not be told again: its end tells
  if (policy.isOnce) return watch({ isElsewhere: state.isElsewhere, why: message });
  return why === "broken" ? again({ ...seen, wasCut: true }, policy) : miss(seen);
}

function refused(state: Asked, policy: QuitMachinePolicy): Step {
  if (policy.hasOtherwise && !state.isElsewhere) return ask(state, true);
  const seen = { ...state, refusals: state.refusals + 1 };
  const isSure = seen.refusals >= SURE && (policy.wasReady || seen.wasCut);
  return isSure ? nobody(seen, policy) : miss(seen);
}

/** Takes a refused connection: nobody listens. */
function nobody(state: Asked, policy: QuitMachinePolicy): Step {
  // the attempt that was cut off was its end (pilot-agent leaves before its answer does)
  if (state.wasCut) return over({ ok: true, isTaken: true, outcome: "gone" });
  const looks = policy.wasReady && quitUnreachable(policy.name) !== undefined;
  return looks ? [{ ...state, phase: "looking" }, [{ kind: "look" }]] : unreachable("unknown", policy);
}

/**
 * Beside a sidecar that was ready before, its readiness endpoint tells more: closed too, it is gone; no longer ready, it is leaving
 * (pilot-agent closes its quit port first: istio, status/server.go); ready, its quit is switched off or elsewhere.
 */
function unreachable(life: Life, { name, wasReady }: QuitMachinePolicy): Step {
  const meaning = quitUnreachable(name);
  const known = meaning === undefined && wasReady ? "gone" : life;
  if (known === "gone" || known === "leaving") return over({ ok: true, isTaken: true, outcome: `${known} already` });
  return over({ ok: false, isTaken: false, outcome: meaning === undefined ? REFUSED : `${REFUSED}: ${meaning}` });
}

function again(state: Asked, policy: QuitMachinePolicy): Step {
  const ms = HEARD_REST_MS[state.heard];
  const next = { ...state, heard: state.heard + 1 };
  return ms === undefined ? unanswered(next, 0, policy) : [{ ...next, phase: "resting" }, [{ kind: "rest", ms }]];
}

function miss(state: Asked): Step {
  const ms = Math.min(10 * 1.5 ** state.misses, LONGEST_REST_MS);
  return [{ ...state, phase: "resting", misses: state.misses + 1 }, [{ kind: "rest", ms }]];
}

/**
 * Takes deadlines while the sidecar has not taken a quit: at half of the time ebb looks for a last resort, at its end it gives
 * up.
 */
function timed(
  state: Extract<State, { phase: "asking" | "resting" | "looking" }>,
  event: Event,
  policy: QuitMachinePolicy,
): Step {
  if (event.kind === "half") return [state, policy.hasLastResort ? [{ kind: "search" }] : []];
  const isUp = event.kind === "bound" || (event.kind === "searched" && event.isFound);
  return isUp ? unanswered(state, state.phase === "asking" ? event.askedMs : 0, policy) : [state, []];
}

function unanswered(state: Asked, askedMs: number, policy: QuitMachinePolicy): Step {
  const { last } = state;
  if (last?.kind === "answered") {
    const { status } = last;
    return over({ ok: false, isTaken: false, outcome: `${quitRefusal(policy.name, last)}`, status });
  }
  if (last === undefined || askedMs >= SHORT_MS) {
    return over({ ok: false, isTaken: false, outcome: "no answer in time" });
  }
  if (last.why !== "refused") return over({ ok: false, isTaken: false, outcome: last.message });
  return state.wasCut ? nobody(state, policy) : unreachable("unknown", policy);
}

function watch(taken: Taken): Step {
  return [{ phase: "watching", taken }, [{ kind: "watch", isElsewhere: taken.isElsewhere }]];
}

/** Waits for a sidecar that has taken the quit. One that still runs when time is up is left alone: it may be draining. */
function watching(state: Extract<State, { phase: "watching" }>, event: Event, policy: QuitMachinePolicy): Step {
  const { isElsewhere, status, why } = state.taken;
  const told = status === undefined ? {} : { status };
  const leaves = isElsewhere ? (policy.leavesElsewhere ?? policy.leaves) : policy.leaves;
  const later = `it leaves by itself ${leaves}`;
  if (event.kind === "gone") {
    const outcome = policy.closesFirst && why === undefined ? `its port is closed: ${later}` : "gone";
    return over({ ok: true, isTaken: true, outcome, ...told });
  }
  if (event.kind !== "bound") return [state, []];
  if (why !== undefined) return over({ ok: false, isTaken: false, outcome: why });
  const isLeaving = leaves !== undefined;
  const outcome = isLeaving ? `answered, still draining: ${later}` : "answered, but still there";
  return over({ ok: isLeaving, isTaken: true, outcome, ...told });
}

function over(result: Result): Step {
  return [{ phase: "over", result }, []];
}
