import { expect, test } from "bun:test";
import { SIG } from "../../../src/core/run/signal.ts";
import { begin, step } from "../../../src/core/run/supervision.ts";
import type { Action, Event, RunPolicy, State } from "../../../src/core/run/supervision-steps.ts";
import { actionsOf } from "./machine.ts";

export const usual: RunPolicy = {
  quitOn: "always",
  restartPolicy: undefined,
  waitMs: 300_000,
  onWaitTimeout: "fail",
  waitFailureCode: 69,
  stopSignals: [SIG.TERM, SIG.INT],
  endsGroup: false,
  drains: false,
  graceMs: undefined,
  rewrite: new Map(),
  expectedCodes: [],
};

/**
 * A title, the events of a life, and the actions at the beginning and in answer to each event, as `tell` writes them.
 */
export type Life = readonly [
  title: string,
  events: readonly Event[],
  actions: readonly string[],
  policy?: Partial<RunPolicy>,
];

/** Declares a test for each life. */
export function testLives(lives: readonly Life[]): void {
  const rows = lives.map(([title, events, actions, policy = {}]) => [title, events, actions, policy] as const);
  test.each(rows)("%s", (_, events, actions, policy) => {
    expect(live(events, { ...usual, ...policy })).toEqual([...actions]);
  });
}

/** Runs a life through these events, and returns its actions: at the beginning, then in answer to each event. */
export function live(events: readonly Event[], policy: RunPolicy): readonly string[] {
  const machine = {
    begin: () => begin(policy),
    step: (state: State, event: Event) => step(state, event, policy),
  };
  return actionsOf(machine, events).map(tell);
}

/** Writes actions as text: `forward 15, arm grace 5000`. */
export function tell(actions: readonly Action[]): string {
  return actions.map(({ kind, ...rest }) => [kind, ...Object.values(rest)].join(" ")).join(", ");
}

export const ready: Event = { kind: "ready" };

export const started: Event = { kind: "started", pid: 7 };

export const quitDone: Event = { kind: "quit-done" };

export const waitOver: Event = { kind: "deadline", of: "wait" };

export const graceOver: Event = { kind: "deadline", of: "grace" };

export const drained: Event = { kind: "drained" };

/** Returns the event that a signal came. */
export const signal = (signal: number): Event => ({ kind: "signal", signal });

/** Returns the event that a process, by default the child, exited. */
export const exited = (code: number, pid = 7): Event => ({ kind: "reaped", pid, exit: { code } });

/** Returns the event that a signal ended the child. */
export const killed = (signal: number): Event => ({ kind: "reaped", pid: 7, exit: { signal } });

export const waiting = "arm wait 300000, wait";

export const starting = "disarm wait, start";

export const { HUP, INT, QUIT, USR1, USR2, TERM, CONT, TSTP, WINCH } = SIG;
