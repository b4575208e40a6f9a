import { errorTexts } from "../../../shared/core/system-error.ts";
import { quitRefusal, quitUnfinished, quitUnreachable } from "../../../shared/sidecars/core/quit.ts";
import type {
  Attempts,
  QuitEvent,
  QuitMachinePolicy,
  QuitState,
  QuitStep,
  Result,
  SidecarLife,
  Taken,
} from "./quitting-steps.ts";

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
