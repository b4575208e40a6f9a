import { type ChildExit, exitCodeOf } from "../../../shared/core/exit.ts";
import { begun, deciding } from "./supervision.ts";
import { type Event, type RunPolicy, reasonToStay, type State, type Step } from "./supervision-steps.ts";

/**
 * Returns the step of a run in the place of one that threw: a second, smaller supervision. It keeps the state, so that the
 * loop goes on, but brings a run whose command has ended (`exit`) to its end: it starts what follows, with the command's
 * exit code, or ends the run once that is done.
 */
export function stepAfterBug(state: State, event: Event, exit: ChildExit | undefined, policy: RunPolicy): Step {
  if (event.kind === "started") return [begun(event.pid), []];
  const isEnding = state.phase === "quitting" || state.phase === "deciding";
  if (exit === undefined || (isEnding && event.kind !== "quit-done" && event.kind !== "decided")) return [state, []];
  const exitCode = exitCodeOf(exit, policy.expectedCodes);
  const stay = event.kind === "decided" ? event.stay : reasonToStay(exitCode, policy);
  if (!isEnding && policy.hasPeers) return deciding(exitCode, stay);
  if (event.kind === "quit-done" || stay !== undefined) return [{ phase: "over", exitCode }, []];
  return [{ phase: "quitting", exitCode }, [{ kind: "quit" }]];
}
