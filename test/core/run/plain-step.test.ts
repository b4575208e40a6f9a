import { expect, test } from "bun:test";
import { stepPlainly } from "../../../src/core/run/plain-step.ts";
import { SIG } from "../../../src/core/run/signal.ts";
import type { Action, Event, RunPolicy, State } from "../../../src/core/run/supervision-steps.ts";

const policy: RunPolicy = {
  waitMs: undefined,
  onWaitTimeout: "fail",
  waitFailureCode: 69,
  stopSignals: [SIG.TERM],
  endsGroup: false,
  drains: true,
  graceMs: undefined,
  rewrite: new Map([
    [SIG.HUP, SIG.USR1],
    [SIG.USR2, 0],
  ]),
  expectedCodes: [143],
  quitOn: "always",
  restartPolicy: undefined,
};

const running: State = { phase: "running", pid: 5, grace: "unset", draining: "not yet" };
const starting = { phase: "starting", held: [SIG.TERM, SIG.HUP] } as const;
const draining: State = { ...running, draining: [SIG.TERM, SIG.INT] };
const quitting: State = { phase: "quitting", exitCode: 7 };
const quit: Action = { kind: "quit" };
const forward = (signal: number) => ({ kind: "forward", signal }) as Action;

const cases: readonly (readonly [about: string, State, Event, Partial<RunPolicy>, State, readonly Action[]])[] = [
  ["the start", starting, { kind: "started", pid: 5 }, {}, running, [forward(SIG.TERM), forward(SIG.USR1)]],
  [
    "a signal before it",
    starting,
    { kind: "signal", signal: SIG.INT },
    {},
    { ...starting, held: [SIG.TERM, SIG.HUP, SIG.INT] },
    [],
  ],
  ["a signal", running, { kind: "signal", signal: SIG.TERM }, {}, running, [forward(SIG.TERM)]],
  ["one that is rewritten", running, { kind: "signal", signal: SIG.HUP }, {}, running, [forward(SIG.USR1)]],
  ["one rewritten to 0", running, { kind: "signal", signal: SIG.USR2 }, {}, running, []],
  ["an early one", running, { kind: "signal", signal: SIG.TERM, isEarly: true }, {}, running, []],
  [
    "the end of a drain",
    draining,
    { kind: "drained" },
    {},
    { ...running, draining: "over" },
    [forward(SIG.TERM), forward(SIG.INT)],
  ],
  ["a drain that is over", running, { kind: "drained" }, {}, running, []],
  ["the child's end", running, { kind: "reaped", pid: 5, exit: { code: 7 } }, {}, quitting, [quit]],
  [
    "its end by a signal",
    draining,
    { kind: "reaped", pid: 5, exit: { signal: SIG.KILL } },
    {},
    { phase: "quitting", exitCode: 137 },
    [quit],
  ],
  [
    "an end that is expected",
    running,
    { kind: "reaped", pid: 5, exit: { signal: SIG.TERM } },
    {},
    { phase: "quitting", exitCode: 0 },
    [quit],
  ],
  ["another's end", running, { kind: "reaped", pid: 6, exit: { code: 1 } }, {}, running, []],
  [
    "sidecars that stay",
    running,
    { kind: "reaped", pid: 5, exit: { code: 7 } },
    { quitOn: "never" },
    { phase: "over", exitCode: 7 },
    [],
  ],
  ["the group's end", { phase: "clearing", exitCode: 7 }, { kind: "group-gone" }, {}, quitting, [quit]],
  ["the quits' end", quitting, { kind: "quit-done" }, {}, { phase: "over", exitCode: 7 }, []],
];

test.each(cases)("what is left of a step: %s", (_, state, event, more, next, actions) => {
  expect(stepPlainly(state, event, { ...policy, ...more })).toEqual([next, actions]);
});
