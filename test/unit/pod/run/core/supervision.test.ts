import { describe, expect, test } from "bun:test";
import { step } from "../../../../../src/pod/run/core/supervision.ts";
import type { RunPolicy, State } from "../../../../../src/pod/run/core/supervision-steps.ts";
import { eventOf, HUP, QUIT, TERM, testLives, USR1, USR2, usual } from "./simulated-steps.ts";

describe("the usual life:", () => {
  testLives({}, [
    ["wait, start, quit, the child's code", "runs; exit 3: quit; quit-done: exit 3"],
    ["a child that a signal ended", "runs; killed 9: quit; quit-done: exit 137"],
    [
      "an expected code",
      "begin: start; started; killed 15: quit; quit-done: exit 0",
      { waitMs: undefined, expectedCodes: [143] },
    ],
    ["no wait", "begin: start; started; exit 3: quit; quit-done: exit 3", { waitMs: undefined }],
    [
      "no time to wait",
      "begin: arm wait 0, wait; wait over: stop-waiting, give-up-waiting false, quit; quit-done: exit 69",
      { waitMs: 0 },
    ],
    ["a wait without end", "begin: wait; ready: disarm wait, start", { waitMs: Number.POSITIVE_INFINITY }],
    ["orphans, whose end is not the child's", "runs; exit 5 of 8; exit 3: quit"],
    ["a child that could not start", "starts; start-failed: quit; quit-done: exit 127"],
  ]);
});

describe("a wait that ends otherwise:", () => {
  const orStart: Partial<RunPolicy> = { onWaitTimeout: "start" };

  testLives({}, [
    ["out of time", "wait over: stop-waiting, give-up-waiting false, quit; quit-done: exit 69"],
    [
      "out of time, with another code",
      "wait over: stop-waiting, give-up-waiting false, quit; quit-done: exit 5",
      { waitFailureCode: 5 },
    ],
    ["out of time, and started all the same", "wait over: stop-waiting, give-up-waiting true, start; started", orStart],
    ["ready just after time ran out", "wait over: stop-waiting, give-up-waiting true, start; ready; started", orStart],
    ["ready just before time ran out", "starts; wait over; started"],
    ["failed", "wait-failed: disarm wait, stop-waiting, quit; quit-done: exit 70"],
    ["ready, then failed", "starts; wait-failed; started"],
    [
      "HUP, where it is a stop signal",
      "HUP: disarm wait, stop-waiting, quit; quit-done: exit 129",
      { stopSignals: [HUP] },
    ],
    [
      "one that is rewritten to a stop signal",
      "USR1: disarm wait, stop-waiting, quit; quit-done: exit 138",
      { rewrite: new Map([[USR1, TERM]]) },
    ],
    ["TERM, where QUIT is the stop signal", "TERM: disarm wait, stop-waiting, quit", { stopSignals: [QUIT] }],
    ["INT", "INT: disarm wait, stop-waiting, quit; quit-done: exit 130"],
    ["QUIT", "QUIT: disarm wait, stop-waiting, quit; quit-done: exit 131"],
    ["TERM", "TERM: disarm wait, stop-waiting, quit; quit-done: exit 143"],
    [
      "TERM, which --expect-exit does not make 0",
      "TERM: disarm wait, stop-waiting, quit; quit-done: exit 143",
      { expectedCodes: [143] },
    ],
    ["TERM twice", "TERM: disarm wait, stop-waiting, quit; TERM; quit-done: exit 143"],
    ["TERM, then ready", "TERM: disarm wait, stop-waiting, quit; ready; quit-done: exit 143"],
    ["USR1, then TERM", "USR1; TERM: disarm wait, stop-waiting, quit; quit-done: exit 143"],
  ]);
});

describe("signals:", () => {
  const to = (from: number, to: number): Partial<RunPolicy> => ({ rewrite: new Map([[from, to]]), graceMs: 10 });

  testLives({}, [
    ["each is forwarded", "runs; HUP: forward 1; TERM: forward 15"],
    ["each time", "runs; TERM: forward 15; TERM: forward 15"],
    [
      "those that came before the start are held, in order",
      "USR1; WINCH; ready: disarm wait, start; TERM; USR2; started: forward 10, forward 28, forward 15, forward 12",
    ],
    [
      "those that came before a start without ready are held too",
      "USR1; wait over: stop-waiting, give-up-waiting true, start; USR2; started: forward 10, forward 12",
      { onWaitTimeout: "start" },
    ],
    [
      "of those that are held and equal the last counts",
      "TSTP; CONT; TSTP; ready: disarm wait, start; started: forward 18, forward 20",
    ],
    ["held ones go where the child cannot start", "starts; TERM; start-failed: quit"],
    [
      "one that was ignored when ebb was started is only forwarded",
      "runs; ignored HUP: forward 1; TERM: drain",
      { graceMs: 10, drains: true },
    ],
    ["none is forwarded after the end", "runs; exit 3: quit; TERM"],
    ["one is rewritten, and no other", "runs; TERM: forward 3, arm grace 10; INT: forward 2", to(TERM, QUIT)],
    ["a held one is rewritten", "starts; USR1; started: forward 12", to(USR1, USR2)],
    ["one that is rewritten to 0 is kept back, with its grace", "runs; TERM", to(TERM, 0)],
    ["one that is rewritten to a stop signal begins the grace", "runs; USR1: forward 15, arm grace 10", to(USR1, TERM)],
  ]);
});

describe("what a child leaves that has ended by itself, with 0, is looked for:", () => {
  testLives({}, [
    ["it is", "runs; exit 0: warn-of-left, quit"],
    ["after a signal that asks for no end", "runs; HUP: forward 1; exit 0: warn-of-left, quit"],
    ["where the sidecars stay", "runs; exit 0: warn-of-left, stay --quit-on never, exit 0", { quitOn: "never" }],
    ["beside its group", "runs; exit 0: arm grace 9, end-group true, warn-of-left", { endsGroup: true, graceMs: 9 }],
    ["not after another code", "runs; exit 3: quit"],
    ["not after a signal that counts as 0", "runs; killed 15: quit", { expectedCodes: [143] }],
    ["not after a stop signal", "runs; TERM: forward 15; exit 0: quit"],
    ["not during a drain", "runs; TERM: drain; exit 0: cut-drain, quit", { drains: true }],
    ["not after a drain", "runs; TERM: drain; drained: announce-drained, forward 15; exit 0: quit", { drains: true }],
  ]);
});

describe("where the sidecars stay, nothing is waited for at the end:", () => {
  const never: Partial<RunPolicy> = { quitOn: "never" };
  const success: Partial<RunPolicy> = { quitOn: "success" };
  testLives(success, [
    ["never", "runs; exit 3: stay --quit-on never, exit 3", never],
    ["never, and the child could not start", "starts; start-failed: stay --quit-on never, exit 127", never],
    ["after a failure", "runs; killed 15: stay --quit-on success, and the exit code is 143, exit 143"],
    ["but not after an expected code", "runs; killed 15: quit", { expectedCodes: [143] }],
    ["a stopped wait", "TERM: disarm wait, stop-waiting, stay --quit-on success, and the exit code is 143, exit 143"],
    [
      "the grace ends all the same",
      "runs; TERM: forward 15, arm grace 9; killed 15: disarm grace, stay --quit-on success, and the exit code is 143, exit 143",
      { graceMs: 9 },
    ],
  ]);
});

describe("an event that does not belong to the phase changes nothing:", () => {
  const names = "ready, wait-failed, started, start-failed, TERM, exit 0, wait over, grace over, drained, quit-done";

  test.each<[State, string]>([
    [{ phase: "waiting", held: [10] }, "ready, wait-failed, TERM, wait over"],
    [{ phase: "starting", held: [10] }, "started, start-failed, TERM"],
    [{ phase: "running", pid: 7, grace: "unset", draining: "not yet", isToEnd: false }, "TERM, exit 0"],
    [{ phase: "running", pid: 7, grace: "armed", draining: "not yet", isToEnd: false }, "TERM, exit 0, grace over"],
    [{ phase: "running", pid: 7, grace: "spent", draining: "not yet", isToEnd: false }, "TERM, exit 0"],
    [{ phase: "running", pid: 7, grace: "unset", draining: 15, isToEnd: false }, "TERM, exit 0, drained"],
    [{ phase: "running", pid: 7, grace: "armed", draining: "over", isToEnd: false }, "TERM, exit 0, grace over"],
    [{ phase: "ending-group", exitCode: 3 }, "TERM, grace over"],
    [{ phase: "quitting", exitCode: 3 }, "quit-done"],
    [{ phase: "over", exitCode: 3 }, ""],
  ])("%j", (state, belonging) => {
    for (const name of names.split(", ").filter((each) => !belonging.split(", ").includes(each))) {
      expect(step(state, eventOf(name), usual)).toStrictEqual([state, []]);
    }
  });
});
