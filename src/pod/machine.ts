import type { Queue } from "../shared/io/queue.ts";
import { deadline } from "../shared/io/timer.ts";

/** A pure state machine of core, and the function that performs its actions. It ends in the phase `over`. */
interface Machine<State extends { readonly phase: string }, Event, Action> {
  begin(): readonly [State, readonly Action[]];
  step(state: State, event: Event): readonly [State, readonly Action[]];
  perform(action: Action): void;
}

/**
 * Runs a state machine until its state is `over`, and resolves with that state: performs the actions of each step in
 * order, then waits for the next event of `queue`. Rejects with the queue's failure, or with what `step` or `perform`
 * throws.
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

/** The named timers of a state machine. */
export interface Deadlines<Name> {
  /** Starts a timer of `ms` from now on, in the place of the one with that name. */
  arm(name: Name, ms: number): void;
  disarm(name: Name): void;
  disarmAll(): void;
}

/** Creates named timers. Each calls `onOver` with its name, once, when its time is over. */
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
