import type { Queue } from "./queue.ts";
import { deadline } from "./timer.ts";

/** A pure state machine of core's, and what performs its actions. It is over in the phase of that name. */
export interface Machine<State extends { readonly phase: string }, Event, Action> {
  begin(): readonly [State, readonly Action[]];
  step(state: State, event: Event): readonly [State, readonly Action[]];
  perform(action: Action): void;
}

/**
 * Runs a state machine: performs the actions of each step in order, then takes the next event, until the state is `over`. Rejects
 * with what the queue fails with.
 */
export async function runMachine<State extends { readonly phase: string }, Event, Action>(
  machine: Machine<State, Event, Action>,
  queue: Queue<Event>,
): Promise<Extract<State, { readonly phase: "over" }>> {
  let [state, actions] = machine.begin();
  for (;;) {
    for (const action of actions) machine.perform(action);
    if (isOver(state)) return state;
    [state, actions] = machine.step(state, await queue.next());
  }
}

function isOver<State extends { readonly phase: string }>(
  state: State,
): state is Extract<State, { readonly phase: "over" }> {
  return state.phase === "over";
}

/** A machine's deadlines, by their names: to arm one again replaces it. */
export interface Deadlines<Name> {
  arm(name: Name, ms: number): void;
  disarm(name: Name): void;
  disarmAll(): void;
}

/** Creates named timers: `onOver` is called with the name of one whose time is over. Arming one again restarts it. */
export function createDeadlines<Name>(onOver: (name: Name) => void): Deadlines<Name> {
  const armed = new Map<Name, () => void>();
  const disarm = (name: Name): void => armed.get(name)?.();
  return {
    arm(name, ms) {
      disarm(name);
      armed.set(
        name,
        deadline(ms, () => onOver(name)),
      );
    },
    disarm,
    disarmAll() {
      for (const name of armed.keys()) disarm(name);
    },
  };
}
