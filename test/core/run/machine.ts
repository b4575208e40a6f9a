/** What a state machine does: the actions of its begin, and those in answer to each event. */
export interface Machine<State, Event, Action> {
  begin(): readonly [State, readonly Action[]];
  step(state: State, event: Event): readonly [State, readonly Action[]];
}

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
