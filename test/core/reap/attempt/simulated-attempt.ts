import { expect, test } from "bun:test";
import { beginAttempt, stepAttempt } from "../../../../src/core/reap/attempt.ts";
import type {
  Action,
  AttemptPolicy,
  Event,
  Observation,
  Result,
  State,
} from "../../../../src/core/reap/attempt-steps.ts";
import type { Ending, Method } from "../../../../src/core/reap/methods.ts";
import type { Rule } from "../../../../src/core/reap/pod-rules.ts";
import { actionsOf } from "../../run/machine.ts";

export const usual: AttemptPolicy = {
  rounds: 2,
  answerMs: 30_000,
  rest: { firstMs: 1000, longestMs: 60_000 },
  chance: 1,
};

/** Returns the method of executing /stop in a container. */
export const exec = (container: string): Method => ({ kind: "exec", container, command: ["/stop"] });

/** Returns the method of `POST /quit` to port 1 of a container, through a port-forward. */
export const forward = (container: string): Method => ({
  kind: "port-forward",
  container,
  requests: [{ port: 1, method: "POST", path: "/quit", headers: [] }],
});

/** Returns how a container is ended: by these methods, with a patience of 7 s. */
export const ending = (
  container: string,
  methods: readonly Method[] = [exec(container), forward(container)],
): Ending => ({
  container,
  sidecar: "istio",
  methods,
  patienceMs: 7000,
});

/** Returns the observation that the pod is stuck, and that these containers are to be ended. */
export const stuck = (...containers: readonly Ending[]): Observation => ({
  kind: "end",
  rule: "stuck",
  reason: "stuck",
  containers,
});

/** Returns the observation that the pod is to be left alone. */
export const left = (rule: Rule, reason: string = rule): Observation => ({ kind: "leave", rule, reason });

export const proxy = stuck(ending("proxy"));

export const ended = left("sidecars-ended");

/** Returns the event that the look of a turn has seen something. */
export const looked = (turn: number, observation: Observation): Event => ({ kind: "looked", turn, observation });

/** Returns the event that the act of a turn has a result. */
export const acted = (turn: number, result: Result): Event => ({ kind: "acted", turn, result });

/** Returns the event that the pod has changed. */
export const changed = (observation: Observation): Event => ({ kind: "changed", observation });

export const taken: Result = { kind: "taken" };

export const refused: Result = { kind: "refused", why: "404" };

/** Returns the event that a deadline has passed. */
export const over = (of: "answer" | "patience" | "rest"): Event => ({ kind: "deadline", of });

export const stop: Event = { kind: "stop" };

/** Writes an action as text: `look 1`, `act 2 exec in proxy`, `arm rest 1000`, `end gave-up: ...`. */
export function tell(action: Action): string {
  switch (action.kind) {
    case "look":
      return `look ${action.turn}`;
    case "act":
      return `act ${action.turn} ${action.act.method.kind} in ${action.act.container}`;
    case "abort":
      return "abort";
    case "arm":
      return `arm ${action.deadline} ${action.ms}`;
    case "disarm":
      return `disarm ${action.deadline}`;
    case "end": {
      const { kind, ...rest } = action.outcome;
      return `end ${kind}${"reason" in rest ? `: ${rest.reason}` : ""}`;
    }
  }
}

/** Runs an attempt through these events, and returns its actions: at the beginning, then in answer to each event. */
export function live(events: readonly Event[], policy: AttemptPolicy = usual): readonly string[] {
  const machine = {
    begin: () => beginAttempt(policy),
    step: (state: State, event: Event) => stepAttempt(state, event, policy),
  };
  return actionsOf(machine, events).map((actions) => actions.map(tell).join(", "));
}

/** Returns the text of the actions of a look. */
export const look = (turn: number) => `look ${turn}, arm answer 30000`;

/** Returns the text of the actions of an act. */
export const act = (turn: number, kind: string, container = "proxy") =>
  `act ${turn} ${kind} in ${container}, arm answer 30000`;

/** A title, the events, and the actions at the beginning and in answer to each, as `tell` writes them. */
export type Life = readonly [
  title: string,
  events: readonly Event[],
  actions: readonly string[],
  policy?: Partial<AttemptPolicy>,
];

/** Declares a test for each life. */
export function testLives(lives: readonly Life[]): void {
  test.each(lives.map(([title, events, actions, policy = {}]) => [title, events, actions, policy] as const))(
    "%s",
    (_, events, actions, policy) => expect(live(events, { ...usual, ...policy })).toEqual([...actions]),
  );
}
