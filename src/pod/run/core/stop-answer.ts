import type { SignalNumber } from "../../../shared/core/signal.ts";
import { isStop } from "./supervision.ts";
import type { Action, Event, RunPolicy, State } from "./supervision-steps.ts";

/** What the log says of each action that answers a stop signal. The first that was taken counts. */
const messages: readonly (readonly [Action["kind"], string])[] = [
  ["stop-waiting", "received a stop signal: ending the wait"],
  ["drain", "received a stop signal: draining"],
  ["cut-drain", "received a stop signal: cutting the drain short"],
  ["forward", "received a stop signal: forwarding it"],
];

export interface StopAnswer {
  readonly signal: SignalNumber;
  readonly by: Action["kind"];
  readonly message: string;
}

/**
 * Returns the stop signal that an event brings, and the log's message about the actions that answer it. A signal that
 * came before the child started is answered by the event `started`. Returns undefined if there is none, or no answer.
 */
export function answerToStop(
  state: State,
  event: Event,
  actions: readonly Action[],
  policy: RunPolicy,
): StopAnswer | undefined {
  const signal = stopIn(state, event, policy);
  if (signal === undefined) return undefined;
  for (const [by, message] of messages) {
    for (const { kind } of actions) if (kind === by) return { signal, by, message };
  }
  return undefined;
}

function stopIn(state: State, event: Event, policy: RunPolicy): SignalNumber | undefined {
  if (event.kind === "started" && state.phase === "starting") return state.held.find((one) => isStop(one, policy));
  if (event.kind !== "signal" || event.wasIgnored === true) return undefined;
  return state.phase === "waiting" || isStop(event.signal, policy) ? event.signal : undefined;
}
