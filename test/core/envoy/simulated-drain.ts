import { expect, test } from "bun:test";
import {
  begin,
  type DrainAction,
  type DrainDeadline,
  type DrainEvent,
  type DrainOutcome,
  type DrainPolicy,
  type DrainRequest,
  type DrainState,
  step,
} from "../../../src/core/envoy/drain.ts";
import { actionsOf } from "../run/machine.ts";

export const usual: DrainPolicy = { boundMs: 60_000, minMs: 5000, maxInFlight: 0, failsHealth: true, wasUp: false };

/**
 * A title, the events of a drain, and the actions at the beginning and in answer to each event, as `tell` writes them.
 */
export type Drain = readonly [
  title: string,
  events: readonly DrainEvent[],
  actions: readonly string[],
  policy?: Partial<DrainPolicy>,
];

/** Declares a test for each drain. */
export function testDrains(drains: readonly Drain[]): void {
  const rows = drains.map(([title, events, actions, policy = {}]) => [title, events, actions, policy] as const);
  test.each(rows)("%s", (_, events, actions, policy) => {
    expect(live(events, { ...usual, ...policy })).toEqual([...actions]);
  });
}

/** Runs a drain through these events, and returns its actions: at the beginning, then in answer to each event. */
export function live(events: readonly DrainEvent[], policy: DrainPolicy): readonly string[] {
  const machine = {
    begin: () => begin(policy),
    step: (state: DrainState, event: DrainEvent) => step(state, event, policy),
  };
  return actionsOf(machine, events).map(tell);
}

/** Writes actions as text: `arm poll 1000, ask count`, `end drained`. */
export function tell(actions: readonly DrainAction[]): string {
  return actions
    .map((action) => (action.kind === "end" ? `end ${tellOutcome(action.outcome)}` : words(action)))
    .join(", ");
}

/** Writes one action as text: its kind and its values. */
export function words({ kind, ...rest }: Exclude<DrainAction, { kind: "end" }>): string {
  return [kind, ...Object.values(rest)].join(" ");
}

/** Writes an outcome as text: `drained`, `out of time REQUESTS CONNECTIONS`. */
export function tellOutcome(outcome: DrainOutcome): string {
  if (outcome.kind !== "out of time") return outcome.kind;
  return `out of time ${outcome.left.requests} ${outcome.left.connections}`;
}

/** Returns the event that Envoy has done what was asked. */
export const done = (request: "fail-health" | "drain-listeners"): DrainEvent => ({ kind: "done", request });

/** Returns the event that a request failed, but was not refused. */
export const failed = (request: DrainRequest): DrainEvent => ({ kind: "failed", request, isRefused: false });

/** Returns the event that Envoy refused a request. */
export const refused = (request: DrainRequest): DrainEvent => ({ kind: "failed", request, isRefused: true });

/** Returns the event that a deadline has passed. */
export const at = (of: DrainDeadline): DrainEvent => ({ kind: "deadline", of });

/** Returns the event that so many requests and connections were counted. */
export const counted = (requests: number, connections = 0): DrainEvent => ({
  kind: "counted",
  inFlight: { requests, connections, hasRequests: true, countedBy: "listeners" },
});

export const cut: DrainEvent = { kind: "cut" };

export const deadlines = "arm bound 60000, arm last look 59750, arm minimum 5000";

export const begun = `${deadlines}, ask fail-health`;

export const poll = "arm poll 1000";

/** The events until the first count. */
export const toCount = [done("fail-health"), at("minimum"), done("drain-listeners")];

/** The actions for `toCount`. */
export const toldToCount = [begun, "", "ask drain-listeners", "ask count"];
