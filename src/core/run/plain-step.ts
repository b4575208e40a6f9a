import type { ChildExit } from "./exit.ts";
import { reasonToStay } from "./quit-policy.ts";
import type { SignalNumber } from "./signal.ts";
import type { Action, Event, RunPolicy, State, Step } from "./supervision-steps.ts";

/**
 * Returns what `step` (supervision.ts) would, reduced to the essential: passes on signals, ends a drain, and quits the
 * sidecars after the child's end. It takes the place of a step that threw because of a bug in ebb.
 */
export function stepPlainly(state: State, event: Event, policy: RunPolicy): Step {
  switch (state.phase) {
    case "starting":
      return starting(state, event, policy);
    case "running":
      return running(state, event, policy);
    case "clearing":
      return event.kind === "group-gone" || event.kind === "deadline" ? leave(state.exitCode, policy) : [state, []];
    case "quitting":
      return event.kind === "quit-done" ? over(state.exitCode) : [state, []];
    default:
      return [state, []];
  }
}

/** Handles only signals and `started`: the child has been spawned, and only the event that says so is still to come. */
function starting(state: Extract<State, { phase: "starting" }>, event: Event, policy: RunPolicy): Step {
  if (event.kind === "signal") return [{ ...state, held: [...state.held, event.signal] }, []];
  if (event.kind !== "started") return [state, []];
  const held = state.held.flatMap((signal) => forwarded(signal, policy));
  return [{ phase: "running", pid: event.pid, grace: "unset", draining: "not yet" }, held];
}

function forwarded(signal: SignalNumber, { rewrite }: RunPolicy): readonly Action[] {
  const sent = rewrite.get(signal) ?? signal;
  return sent === 0 ? [] : [{ kind: "forward", signal: sent }];
}

type Running = Extract<State, { phase: "running" }>;

function running(state: Running, event: Event, policy: RunPolicy): Step {
  switch (event.kind) {
    case "reaped":
      return event.pid === state.pid ? leave(plainCodeOf(event.exit, policy), policy) : [state, []];
    case "signal":
      return [state, event.isEarly === true ? [] : forwarded(event.signal, policy)];
    case "drained": {
      if (typeof state.draining === "string") return [state, []];
      const held = state.draining.map((signal): Action => ({ kind: "forward", signal }));
      return [{ ...state, draining: "over" }, held];
    }
    default:
      return [state, []];
  }
}

function leave(exitCode: number, policy: RunPolicy): Step {
  if (reasonToStay(exitCode, policy) !== undefined) return over(exitCode);
  return [{ phase: "quitting", exitCode }, [{ kind: "quit" }]];
}

/** Returns the last state, with this exit code and no actions. */
export function over(exitCode: number): Step {
  return [{ phase: "over", exitCode }, []];
}

/** Returns the exit code for a child's end as `exitCodeOf` does, without calling it, because the bug may be there. */
export function plainCodeOf(exit: ChildExit, { expectedCodes }: RunPolicy): number {
  const code = "code" in exit ? exit.code : 128 + exit.signal;
  return expectedCodes.includes(code) ? 0 : code;
}
