import { counted } from "../../../shared/core/wording.ts";
import type { DrainOutcome } from "./drain.ts";
import type { InFlight } from "./in-flight.ts";

/**
 * Describes the outcome of a drain for the log. `ok` is true if Envoy has drained or has exited, `isDoubtful` if that may
 * have cut requests off. `wasHeld`: Envoy outlived its stop signal, which only a hook of its container can do.
 * `leavesRest`: the drain was not to wait for more than the minimum, because the app ends what is left.
 */
export function describeOutcome(
  outcome: DrainOutcome,
  { wasHeld, leavesRest }: { readonly wasHeld: boolean; readonly leavesRest: boolean },
): {
  readonly ok: boolean;
  readonly isDoubtful?: true;
  readonly text: string;
} {
  switch (outcome.kind) {
    case "drained":
      return { ok: true, text: "drained" };
    case "gone":
      return { ok: true, isDoubtful: true, text: "Envoy had exited before the drain" };
    case "exited": {
      const when =
        outcome.left === undefined ? "before the first count" : `with ${describeLeft(outcome.left)} at the last count`;
      const start = `Envoy exited during the drain, ${when}`;
      if (wasHeld)
        return {
          ok: true,
          text: `${start}: its container's preStop hook, ebb drain or another, had ended, or it was killed`,
        };
      const text = `${start}: if its container has no preStop hook, ebb hold, requests were cut off`;
      return { ok: true, isDoubtful: true, text };
    }
    case "out of time": {
      const { requests, connections } = outcome.left;
      const left = `${requests + connections} left (${describeLeft(outcome.left)})`;
      if (leavesRest) return { ok: true, text: `${left}: the app ends them` };
      return { ok: false, text: `out of time with ${left}` };
    }
    case "not counted":
      if (leavesRest) return { ok: true, text: "what is left could not be counted: the app ends it" };
      return { ok: false, text: "out of time; what was left could not be counted, and may have been cut off" };
    case "not there":
      return {
        ok: false,
        text: "connection refused: Envoy has exited already, or its admin interface is elsewhere (--admin)",
      };
    case "cut short":
      return { ok: false, text: "cut short" };
  }
}

/** Formats `1 request, 2 connections`, without what is 0. */
function describeLeft({ requests, connections }: InFlight): string {
  const parts = [counted(requests, "request"), counted(connections, "connection")];
  return parts.filter((part) => !part.startsWith("0 ")).join(", ");
}
