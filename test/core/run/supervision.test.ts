import { describe, expect, test } from "bun:test";
import { step } from "../../../src/core/run/supervision.ts";
import type { Event, RunPolicy, State } from "../../../src/core/run/supervision-steps.ts";
import {
  CONT,
  drained,
  exited,
  graceOver,
  HUP,
  INT,
  killed,
  QUIT,
  quitDone,
  ready,
  signal,
  started,
  starting,
  TERM,
  TSTP,
  testLives,
  USR1,
  USR2,
  usual,
  WINCH,
  waiting,
  waitOver,
} from "./simulated-steps.ts";

const waitFailed: Event = { kind: "wait-failed", exitCode: 70 };

const startFailed: Event = { kind: "start-failed", exitCode: 127 };

describe("the usual life:", () => {
  testLives([
    [
      "wait, start, quit, the child's code",
      [ready, started, exited(3), quitDone],
      [waiting, starting, "", "quit", "exit 3"],
    ],
    ["a child that a signal ended", [ready, started, killed(9), quitDone], [waiting, starting, "", "quit", "exit 137"]],
    [
      "an expected code",
      [started, killed(15), quitDone],
      ["start", "", "quit", "exit 0"],
      { waitMs: undefined, expectedCodes: [143] },
    ],
    ["no wait", [started, exited(3), quitDone], ["start", "", "quit", "exit 3"], { waitMs: undefined }],
    [
      "no time to wait",
      [waitOver, quitDone],
      ["arm wait 0, wait", "stop-waiting, give-up-waiting false, quit", "exit 69"],
      { waitMs: 0 },
    ],
    ["a wait without end", [ready], ["wait", starting], { waitMs: Number.POSITIVE_INFINITY }],
    [
      "orphans, whose end is not the child's",
      [ready, started, exited(5, 8), exited(3)],
      [waiting, starting, "", "", "quit"],
    ],
    ["a child that could not start", [ready, startFailed, quitDone], [waiting, starting, "quit", "exit 127"]],
  ]);
});

describe("a wait that ends otherwise:", () => {
  const leave = "disarm wait, stop-waiting, quit";
  const fail = "stop-waiting, give-up-waiting false, quit";
  const startAnyway = "stop-waiting, give-up-waiting true, start";
  const orStart: Partial<RunPolicy> = { onWaitTimeout: "start" };

  testLives([
    ["out of time", [waitOver, quitDone], [waiting, fail, "exit 69"]],
    ["out of time, with another code", [waitOver, quitDone], [waiting, fail, "exit 5"], { waitFailureCode: 5 }],
    ["out of time, and started all the same", [waitOver, started], [waiting, startAnyway, ""], orStart],
    ["ready just after time ran out", [waitOver, ready, started], [waiting, startAnyway, "", ""], orStart],
    ["ready just before time ran out", [ready, waitOver, started], [waiting, starting, "", ""]],
    ["failed", [waitFailed, quitDone], [waiting, leave, "exit 70"]],
    ["ready, then failed", [ready, waitFailed, started], [waiting, starting, "", ""]],
    ["HUP, where it is a stop signal", [signal(HUP), quitDone], [waiting, leave, "exit 129"], { stopSignals: [HUP] }],
    [
      "one that is rewritten to a stop signal",
      [signal(USR1), quitDone],
      [waiting, leave, "exit 138"],
      { rewrite: new Map([[USR1, TERM]]) },
    ],
    ["TERM, where QUIT is the stop signal", [signal(TERM)], [waiting, leave], { stopSignals: [QUIT] }],
    ["INT", [signal(INT), quitDone], [waiting, leave, "exit 130"]],
    ["QUIT", [signal(QUIT), quitDone], [waiting, leave, "exit 131"]],
    ["TERM", [signal(TERM), quitDone], [waiting, leave, "exit 143"]],
    [
      "TERM, which --expect-exit does not make 0",
      [signal(TERM), quitDone],
      [waiting, leave, "exit 143"],
      { expectedCodes: [143] },
    ],
    ["TERM twice", [signal(TERM), signal(TERM), quitDone], [waiting, leave, "", "exit 143"]],
    ["TERM, then ready", [signal(TERM), ready, quitDone], [waiting, leave, "", "exit 143"]],
    ["USR1, then TERM", [signal(USR1), signal(TERM), quitDone], [waiting, "", leave, "exit 143"]],
  ]);
});

describe("signals:", () => {
  const to = (from: number, to: number): Partial<RunPolicy> => ({ rewrite: new Map([[from, to]]), graceMs: 10 });

  testLives([
    [
      "each is forwarded",
      [ready, started, signal(HUP), signal(TERM)],
      [waiting, starting, "", "forward 1", "forward 15"],
    ],
    ["each time", [ready, started, signal(TERM), signal(TERM)], [waiting, starting, "", "forward 15", "forward 15"]],
    [
      "those that came before the start are held, in order",
      [signal(USR1), signal(WINCH), ready, signal(TERM), signal(USR2), started],
      [waiting, "", "", starting, "", "", "forward 10, forward 28, forward 15, forward 12"],
    ],
    [
      "those that came before a start without ready are held too",
      [signal(USR1), waitOver, signal(USR2), started],
      [waiting, "", "stop-waiting, give-up-waiting true, start", "", "forward 10, forward 12"],
      { onWaitTimeout: "start" },
    ],
    [
      "of those that are held and equal the last counts",
      [signal(TSTP), signal(CONT), signal(TSTP), ready, started],
      [waiting, "", "", "", starting, "forward 18, forward 20"],
    ],
    ["held ones go where the child cannot start", [ready, signal(TERM), startFailed], [waiting, starting, "", "quit"]],
    [
      "one that was ignored when ebb was started is only forwarded",
      [ready, started, { kind: "signal", signal: HUP, wasIgnored: true }, signal(TERM)],
      [waiting, starting, "", "forward 1", "drain"],
      { graceMs: 10, drains: true },
    ],
    ["none is forwarded after the end", [ready, started, exited(3), signal(TERM)], [waiting, starting, "", "quit", ""]],
    [
      "one is rewritten, and no other",
      [ready, started, signal(TERM), signal(INT)],
      [waiting, starting, "", "forward 3, arm grace 10", "forward 2"],
      to(TERM, QUIT),
    ],
    ["a held one is rewritten", [ready, signal(USR1), started], [waiting, starting, "", "forward 12"], to(USR1, USR2)],
    [
      "one that is rewritten to 0 is kept back, with its grace",
      [ready, started, signal(TERM)],
      [waiting, starting, "", ""],
      to(TERM, 0),
    ],
    [
      "one that is rewritten to a stop signal begins the grace",
      [ready, started, signal(USR1)],
      [waiting, starting, "", "forward 15, arm grace 10"],
      to(USR1, TERM),
    ],
  ]);
});

describe("what a child leaves that has ended by itself, with 0, is looked for:", () => {
  const warned = "warn-of-left, quit";
  const stopped = [ready, started, signal(TERM), exited(0)];
  testLives([
    ["it is", [ready, started, exited(0)], [waiting, starting, "", warned]],
    [
      "after a signal that asks for no end",
      [ready, started, signal(HUP), exited(0)],
      [waiting, starting, "", "forward 1", warned],
    ],
    [
      "where the sidecars stay",
      [ready, started, exited(0)],
      [waiting, starting, "", "warn-of-left, stay --quit-on never, exit 0"],
      { quitOn: "never" },
    ],
    [
      "beside its group",
      [ready, started, exited(0)],
      [waiting, starting, "", "arm grace 9, end-group true, warn-of-left"],
      { endsGroup: true, graceMs: 9 },
    ],
    ["not after another code", [ready, started, exited(3)], [waiting, starting, "", "quit"]],
    [
      "not after a signal that counts as 0",
      [ready, started, killed(15)],
      [waiting, starting, "", "quit"],
      { expectedCodes: [143] },
    ],
    ["not after a stop signal", stopped, [waiting, starting, "", "forward 15", "quit"]],
    ["not during a drain", stopped, [waiting, starting, "", "drain", "cut-drain, quit"], { drains: true }],
    [
      "not after a drain",
      [...stopped.slice(0, 3), drained, exited(0)],
      [waiting, starting, "", "drain", "forward 15", "quit"],
      { drains: true },
    ],
  ]);
});

describe("where the sidecars stay, nothing is waited for at the end:", () => {
  const never: Partial<RunPolicy> = { quitOn: "never" };
  const success: Partial<RunPolicy> = { quitOn: "success" };
  const failed = "stay --quit-on success, and the exit code is 143, exit 143";

  testLives([
    ["never", [ready, started, exited(3)], [waiting, starting, "", "stay --quit-on never, exit 3"], never],
    [
      "never, and the child could not start",
      [ready, startFailed],
      [waiting, starting, "stay --quit-on never, exit 127"],
      never,
    ],
    ["after a failure", [ready, started, killed(15)], [waiting, starting, "", failed], success],
    [
      "but not after an expected code",
      [ready, started, killed(15)],
      [waiting, starting, "", "quit"],
      { ...success, expectedCodes: [143] },
    ],
    ["a stopped wait", [signal(TERM)], [waiting, `disarm wait, stop-waiting, ${failed}`], success],
    [
      "the grace ends all the same",
      [ready, started, signal(TERM), killed(15)],
      [waiting, starting, "", "forward 15, arm grace 9", `disarm grace, ${failed}`],
      { ...success, graceMs: 9 },
    ],
  ]);
});

describe("an event that does not belong to the phase changes nothing:", () => {
  const [terminated, ended] = [signal(TERM), exited(0)];
  const events = [ready, waitFailed, started, startFailed, terminated, ended, waitOver, graceOver, drained, quitDone];

  test.each<[State, readonly Event[]]>([
    [{ phase: "waiting", held: [10] }, [ready, waitFailed, terminated, waitOver]],
    [{ phase: "starting", held: [10] }, [started, startFailed, terminated]],
    [{ phase: "running", pid: 7, grace: "unset", draining: "not yet", isToEnd: false }, [terminated, ended]],
    [{ phase: "running", pid: 7, grace: "armed", draining: "not yet", isToEnd: false }, [terminated, ended, graceOver]],
    [{ phase: "running", pid: 7, grace: "spent", draining: "not yet", isToEnd: false }, [terminated, ended]],
    [{ phase: "running", pid: 7, grace: "unset", draining: [15], isToEnd: false }, [terminated, ended, drained]],
    [{ phase: "running", pid: 7, grace: "armed", draining: "over", isToEnd: false }, [terminated, ended, graceOver]],
    [{ phase: "ending-group", exitCode: 3 }, [terminated, graceOver]],
    [{ phase: "quitting", exitCode: 3 }, [quitDone]],
    [{ phase: "over", exitCode: 3 }, []],
  ])("%j", (state, belonging) => {
    for (const event of events.filter((event) => !belonging.includes(event))) {
      expect(step(state, event, usual)).toStrictEqual([state, []]);
    }
  });
});
