import { expect } from "bun:test";

/** A state machine: `begin` gives its first state, `step` the next one after an event, each with the actions to do. */
interface Machine<State, Event, Action> {
  begin(): readonly [State, readonly Action[]];
  step(state: State, event: Event): readonly [State, readonly Action[]];
}

/** Runs a state machine, and returns its actions: those of its beginning, then those in answer to each event. */
function actionsOf<State, Event, Action>(
  { begin, step }: Machine<State, Event, Action>,
  events: readonly Event[],
): readonly (readonly Action[])[] {
  let [state, actions] = begin();
  const all = [actions];
  for (const event of events) {
    [state, actions] = step(state, event);
    all.push(actions);
  }
  return all;
}

/**
 * Runs a state machine through a life: `begin: ACTIONS; EVENT: ACTIONS; EVENT`, where an event without actions has none.
 * Expects the actions, as `tell` writes them.
 */
export function expectLife<State, Event, Action>(
  machine: Machine<State, Event, Action>,
  life: string,
  eventOf: (text: string) => Event,
  tell: (actions: readonly Action[]) => string,
): void {
  const steps = life.split("; ").map((text) => text.split(": "));
  const events = steps.slice(1).map(([event = ""]) => eventOf(event));
  expect(actionsOf(machine, events).map(tell)).toEqual(steps.map(([, actions = ""]) => actions));
}
