import { errorTexts } from "../../../shared/core/system-error.ts";
import { quitRefusal, quitUnfinished, quitUnreachable } from "../../../shared/sidecars/core/quit.ts";
import type { Sidecar } from "../../../shared/sidecars/core/sidecar.ts";

/**
 * The state of one quit, a pure state machine: asking -> resting -> asking ... -> watching -> over. A failed quit is
 * repeated: twice at most if it arrived, else until time is up. After one that was taken, the sidecar is watched. One that
 * has exited by itself may be awaited: the kubelet may be restarting it.
 */
export type QuitState =
  | (Attempts & { readonly phase: "asking" | "resting" | "looking" })
  | (Attempts & { readonly phase: "awaiting" })
  | { readonly phase: "watching"; readonly taken: Taken }
  | { readonly phase: "over"; readonly result: Result };

/** What the attempts so far came to. */
interface Attempts {
  /** Whether the last attempt went to `QuitRequest.fallback`. */
  readonly usesFallback: boolean;
  /** How many attempts arrived but failed: answered with 5xx, or cut off before their answer. */
  readonly arrived: number;
  /** How many attempts in a row were refused. */
  readonly refusals: number;
  /** How many attempts did not arrive, which decides the rest before the next. */
  readonly misses: number;
  /** Whether an attempt was cut off: the sidecar may have ended because of it. */
  readonly wasCut: boolean;
  /** Whether the sidecar was awaited. */
  readonly wasAwaited: boolean;
  /** The result of the last attempt. */
  readonly last: Last | undefined;
}

type Last = Pick<Extract<QuitEvent, { kind: "answered" }>, "kind" | "status"> | Extract<QuitEvent, { kind: "failed" }>;

/** A quit that the sidecar has taken, or may have taken. */
interface Taken {
  readonly usesFallback: boolean;
  /** The status of its answer. */
  readonly status?: number;
  /** Why there was no answer: only the sidecar's end shows that the quit arrived. */
  readonly why?: string;
}

/** The result of a quit. */
export interface Result {
  /** The sidecar took the quit, and has gone (as far as that can be seen) or leaves by itself. */
  readonly ok: boolean;
  /** The sidecar took the quit, or was gone before: no process need be signalled. */
  readonly isTaken: boolean;
  /** What happened, in words for the log. */
  readonly outcome: string;
  readonly status?: number;
  /** What to do, if the outcome does not say it. */
  readonly how?: string;
  /** It is gone, or was never here. */
  readonly isAbsent?: true;
}

/** What happened to a quit: the result of an action, or a deadline. */
export type QuitEvent =
  | { readonly kind: "answered"; readonly status: number }
  /** `refused`: connection refused; `unreachable`, `late`: it did not arrive; `broken`: it arrived and was not answered. */
  | { readonly kind: "failed"; readonly why: "refused" | "unreachable" | "late" | "broken"; readonly message: string }
  | { readonly kind: "rested" }
  /** The result of `look`: what the sidecar's readiness endpoint tells. */
  | { readonly kind: "looked"; readonly life: SidecarLife }
  /** The result of `watch`: the quit's address refuses connections. */
  | { readonly kind: "gone" }
  /** The result of `seek`: all ports of the sidecar have refused connections, and go on to. */
  | { readonly kind: "absent" }
  /** The result of `await`: whether the sidecar listens again. */
  | { readonly kind: "awaited"; readonly isBack: boolean }
  /** Half of the time is over. */
  | { readonly kind: "half" }
  /** The result of `search`: whether a process runs that could be signalled instead. */
  | { readonly kind: "searched"; readonly isFound: boolean; readonly askedMs: number }
  /** Time is up. `askedMs`: for how many milliseconds the last attempt has been under way. */
  | { readonly kind: "bound"; readonly askedMs: number };

/** What the readiness endpoint tells of a sidecar whose quit is refused (no listener). */
export type SidecarLife = "gone" | "leaving" | "ready" | "unknown";

/** What the caller of `begin` and `step` is to do. */
export type QuitAction =
  | { readonly kind: "ask"; readonly usesFallback: boolean }
  | { readonly kind: "rest"; readonly ms: number }
  | { readonly kind: "look" }
  | { readonly kind: "watch" }
  | { readonly kind: "search" }
  | { readonly kind: "seek" }
  | { readonly kind: "await" };

/** The settings of one quit. */
export interface QuitMachinePolicy {
  readonly name: Sidecar["name"];
  /** When the sidecar leaves after its answer at its first and at its second place, for the log. Undefined: at once. */
  readonly exitsWhen?: string | undefined;
  readonly fallbackExitsWhen?: string | undefined;
  /** The quit's port closes when the sidecar begins to exit, not when it has exited. */
  readonly closesFirst: boolean;
  readonly hasFallback: boolean;
  /** The quit must not be repeated once it may have arrived. */
  readonly mustNotRepeat: boolean;
  /** The sidecar was up before: if it refuses connections, it has exited, and is not late to start. */
  readonly wasReady: boolean;
  /** Its injector's annotation proves that it is in this pod. */
  readonly isProven?: boolean;
  /** If all of its ports refuse connections, it is gone, or was never here: that is as good as a quit. */
  readonly mayBeAbsent: boolean;
  /** Nothing of it has answered so far: if all of its ports refuse connections, it is not here. */
  readonly wasSilent: boolean;
  /** If it has exited by itself, the kubelet may be restarting it. */
  readonly mayReturn: boolean;
  /** Processes are signalled if the sidecar does not take the quit. */
  readonly hasLastResort: boolean;
}

export type QuitStep = readonly [QuitState, readonly QuitAction[]];

/** The rests before a quit that arrived is repeated. */
const REPEAT_REST_MS = [200, 1000];
const LONGEST_REST_MS = 250;
/** After so many refusals in a row it is certain that the listener is closed. */
const SURE = 3;
/** An attempt that is younger than this when time is up would have ended as the one before. */
const SHORT_MS = 100;
const REFUSED = errorTexts.ECONNREFUSED;
const EXITED = "exited";
const ABSENT =
  "its shutdown, readiness and admin ports refuse connections; if they are not the usual ones, set --admin URL or --quit URL";

/** Returns the quit's first state, and its first actions: to send the request, and to look whether the sidecar is there. */
export function begin({ mayBeAbsent, wasSilent }: Pick<QuitMachinePolicy, "mayBeAbsent" | "wasSilent">): QuitStep {
  const so = { usesFallback: false, wasCut: false, wasAwaited: false };
  const [state, actions] = ask({ ...so, arrived: 0, refusals: 0, misses: 0, last: undefined }, false);
  return [state, mayBeAbsent || wasSilent ? [...actions, { kind: "seek" }] : actions];
}

/**
 * Returns the quit's next state after an event, and the actions to perform. An event that does not belong to the phase
 * changes nothing.
 */
export function step(state: QuitState, event: QuitEvent, policy: QuitMachinePolicy): QuitStep {
  switch (state.phase) {
    case "asking":
      if (event.kind === "answered") return answered(state, event.status, policy);
      return event.kind === "failed" ? failed(state, event, policy) : timed(state, event, policy);
    case "resting":
      return event.kind === "rested" ? ask(state, false) : timed(state, event, policy);
    case "looking":
      if (event.kind === "looked") return looked(state, event.life, policy);
      return event.kind === "bound" ? unreachable("unknown", policy) : [state, []];
    case "awaiting":
      if (event.kind === "awaited" && event.isBack) return ask({ ...state, refusals: 0, wasAwaited: true }, false);
      return event.kind === "awaited" || event.kind === "bound" ? unreachable("gone", policy) : [state, []];
    case "watching":
      return watching(state, event, policy);
    case "over":
      return [state, []];
  }
}

function ask(state: Attempts, usesFallback: boolean): QuitStep {
  return [{ ...state, phase: "asking", usesFallback }, [{ kind: "ask", usesFallback }]];
}

function answered(state: Attempts, status: number, policy: QuitMachinePolicy): QuitStep {
  const { usesFallback } = state;
  const outcome = quitRefusal(policy.name, { status });
  if (outcome === undefined) {
    // that a program named by the user alone should exit after its answer is not known
    if (policy.name === "custom") return over({ ok: true, isTaken: true, outcome: "answered", status });
    return watch({ usesFallback, status });
  }
  const mayRepeat = status >= 500 && !policy.mustNotRepeat;
  if (!mayRepeat) return over({ ok: false, isTaken: false, outcome, status });
  return again({ ...state, refusals: 0, last: { kind: "answered", status } }, policy);
}

function failed(state: Attempts, event: Extract<QuitEvent, { kind: "failed" }>, policy: QuitMachinePolicy): QuitStep {
  const { why, message } = event;
  if (why === "refused") return refused({ ...state, last: event }, policy);
  const seen: Attempts = { ...state, refusals: 0, last: event };
  // it may have arrived, and must not be sent again: only the sidecar's end tells
  if (policy.mustNotRepeat) return watch({ usesFallback: state.usesFallback, why: message });
  return why === "broken" ? again({ ...seen, wasCut: true }, policy) : miss(seen);
}

function refused(state: Attempts, policy: QuitMachinePolicy): QuitStep {
  if (policy.hasFallback && !state.usesFallback) return ask(state, true);
  const seen = { ...state, refusals: state.refusals + 1 };
  const isSure = seen.refusals >= SURE && (policy.wasReady || seen.wasCut);
  return isSure ? closed(seen, policy) : miss(seen);
}

/** Decides what it means that the listener is closed. */
function closed(state: Attempts, policy: QuitMachinePolicy): QuitStep {
  // the attempt that was cut off ended the sidecar (pilot-agent exits before its answer is sent)
  if (state.wasCut) return over({ ok: true, isTaken: true, outcome: EXITED });
  const canLook = policy.wasReady && quitUnreachable(policy.name) !== undefined;
  return canLook ? [{ ...state, phase: "looking" }, [{ kind: "look" }]] : unreachable("unknown", policy);
}

function looked(state: Attempts, life: SidecarLife, policy: QuitMachinePolicy): QuitStep {
  if (life !== "gone" || !policy.mayReturn || state.wasAwaited) return unreachable(life, policy);
  return [{ ...state, phase: "awaiting" }, [{ kind: "await" }]];
}

/**
 * Ends the quit of a sidecar whose quit port is closed. If it was ready before, its readiness endpoint tells
 * why: closed too, it is gone; not ready, it is leaving (pilot-agent closes its quit port first: istio,
 * status/server.go); ready, its quit is off or elsewhere.
 */
function unreachable(life: SidecarLife, { name, wasReady, isProven, mayBeAbsent }: QuitMachinePolicy): QuitStep {
  const meaning = quitUnreachable(name);
  if (life === "gone" || (meaning === undefined && wasReady))
    return over({ ok: true, isTaken: true, outcome: "had exited already" });
  if (life === "leaving") return over({ ok: true, isTaken: true, outcome: "was exiting already" });
  const absent = isProven === true ? "it has not started" : `there is no ${name} in this pod`;
  const why = wasReady || mayBeAbsent ? meaning : meaning && `${absent}, or ${meaning}`;
  return over({ ok: false, isTaken: false, outcome: why === undefined ? REFUSED : `${REFUSED}: ${why}` });
}

function again(state: Attempts, policy: QuitMachinePolicy): QuitStep {
  const ms = REPEAT_REST_MS[state.arrived];
  const next = { ...state, arrived: state.arrived + 1 };
  return ms === undefined ? unanswered(next, 0, policy) : [{ ...next, phase: "resting" }, [{ kind: "rest", ms }]];
}

function miss(state: Attempts): QuitStep {
  const ms = Math.min(10 * 1.5 ** state.misses, LONGEST_REST_MS);
  return [{ ...state, phase: "resting", misses: state.misses + 1 }, [{ kind: "rest", ms }]];
}

/**
 * Handles what comes from elsewhere before a quit is taken: the sidecar is not there; at half of the time ebb searches for
 * a last resort, at its end it gives up.
 */
function timed(
  state: Extract<QuitState, { phase: "asking" | "resting" | "looking" }>,
  event: QuitEvent,
  policy: QuitMachinePolicy,
): QuitStep {
  if (event.kind === "absent") {
    if (policy.mayBeAbsent) return over({ ok: true, isTaken: true, isAbsent: true, outcome: ABSENT });
    return unanswered(state, 0, policy);
  }
  if (event.kind === "half") return [state, policy.hasLastResort ? [{ kind: "search" }] : []];
  const isUp = event.kind === "bound" || (event.kind === "searched" && event.isFound);
  return isUp ? unanswered(state, state.phase === "asking" ? event.askedMs : 0, policy) : [state, []];
}

function unanswered(state: Attempts, askedMs: number, policy: QuitMachinePolicy): QuitStep {
  const { last } = state;
  if (last?.kind === "answered") {
    const { status } = last;
    return over({ ok: false, isTaken: false, outcome: `${quitRefusal(policy.name, last)}`, status });
  }
  if (last === undefined || askedMs >= SHORT_MS) {
    return over({ ok: false, isTaken: false, outcome: errorTexts.ETIMEDOUT, how: quitUnfinished(policy.name) });
  }
  if (last.why !== "refused") {
    const how = last.why === "unreachable" ? {} : { how: quitUnfinished(policy.name) };
    return over({ ok: false, isTaken: false, outcome: last.message, ...how });
  }
  return state.wasCut ? closed(state, policy) : unreachable("unknown", policy);
}

function watch(taken: Taken): QuitStep {
  return [{ phase: "watching", taken }, [{ kind: "watch" }]];
}

/**
 * Waits for a sidecar that has taken the quit. One that still runs when time is up is left alone: it may be draining.
 */
function watching(
  state: Extract<QuitState, { phase: "watching" }>,
  event: QuitEvent,
  policy: QuitMachinePolicy,
): QuitStep {
  const { usesFallback, status, why } = state.taken;
  const answer = status === undefined ? {} : { status };
  const exitsWhen = usesFallback ? (policy.fallbackExitsWhen ?? policy.exitsWhen) : policy.exitsWhen;
  const later = `it exits by itself ${exitsWhen}`;
  if (event.kind === "gone") {
    const outcome = policy.closesFirst && why === undefined ? `its port is closed: ${later}` : EXITED;
    return over({ ok: true, isTaken: true, outcome, ...answer });
  }
  if (event.kind !== "bound") return [state, []];
  const how = quitUnfinished(policy.name);
  if (why !== undefined) return over({ ok: false, isTaken: false, outcome: why, how });
  if (exitsWhen !== undefined)
    return over({ ok: true, isTaken: true, outcome: `answered, still draining: ${later}`, ...answer });
  return over({ ok: false, isTaken: true, outcome: "answered, but still runs", how, ...answer });
}

function over(result: Result): QuitStep {
  return [{ phase: "over", result }, []];
}
