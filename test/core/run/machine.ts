/** A state machine: `begin` gives its first state, `step` the next one after an event, each with the actions to do. */
export interface Machine<State, Event, Action> {
  begin(): readonly [State, readonly Action[]];
  step(state: State, event: Event): readonly [State, readonly Action[]];
}

/** Runs a state machine, and returns its actions: those of its beginning, then those in answer to each event. */
export function actionsOf<State, Event, Action>(
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
