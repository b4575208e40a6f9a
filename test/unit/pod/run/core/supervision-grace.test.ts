import { describe, expect, test } from "bun:test";
import { isMissedStop } from "../../../../../src/pod/run/core/supervision.ts";
import type { RunPolicy } from "../../../../../src/pod/run/core/supervision-steps.ts";
import { INT, QUIT, TERM, testLives, usual } from "./simulated-steps.ts";

describe("grace:", () => {
  testLives({ graceMs: 5000 }, [
    ["a stop signal begins it", "runs; TERM: forward 15, arm grace 5000"],
    ["0 ms is a grace too", "runs; TERM: forward 15, arm grace 0", { graceMs: 0 }],
    ["no other signal does", "runs; USR1: forward 10"],
    ["a second stop signal does not begin it again", "runs; TERM: forward 15, arm grace 5000; INT: forward 2"],
    [
      "its end kills the group, once",
      "runs; TERM: forward 15, arm grace 5000; grace over: kill-all, arm kill 500; grace over",
    ],
    [
      "a child that SIGKILL does not end is left, with the code of SIGKILL",
      "runs; TERM: forward 15, arm grace 5000; grace over: kill-all, arm kill 500; kill over: leave-child, quit; quit-done: exit 137; killed 9",
    ],
    [
      "it is left where the sidecars stay, too",
      "runs; TERM: forward 15, arm grace 5000; grace over: kill-all, arm kill 500; kill over: leave-child, stay --quit-on never, exit 137",
      { quitOn: "never" },
    ],
    ["no child is left before", "runs; TERM: forward 15, arm grace 5000; kill over"],
    [
      "after its end signals are forwarded, and it does not begin again",
      "runs; TERM: forward 15, arm grace 5000; grace over: kill-all, arm kill 500; TERM: forward 15; killed 9: disarm kill, quit",
    ],
    ["the child's end ends it", "runs; TERM: forward 15, arm grace 5000; exit 0: disarm grace, quit"],
    ["an orphan's end does not", "runs; TERM: forward 15, arm grace 5000; exit 0 of 8"],
    ["a stale one does nothing", "runs; grace over"],
    ["nor does a stale wait", "runs; TERM: forward 15, arm grace 5000; wait over"],
    ["a held stop signal begins it at the start", "starts; TERM; started: forward 15, arm grace 5000"],
  ]);
});

describe("signals before the child is there:", () => {
  testLives({}, [
    ["one that the child could not handle yet is dropped", "early HUP: drop 1; ready: disarm wait, start; started"],
    ["each time", "early HUP: drop 1; early HUP: drop 1; early USR1: drop 10"],
    ["between ready and started too", "starts; early USR1: drop 10; started"],
    ["and one that is heard of after the start", "runs; early USR1: drop 10"],
    ["QUIT ends the wait", "early QUIT: disarm wait, stop-waiting, quit"],
    ["a stop signal is never dropped", "runs; early TERM: forward 15"],
    ["nor QUIT", "runs; early QUIT: forward 3"],
  ]);
});

describe("with --stop-signal QUIT:", () => {
  testLives({ stopSignals: [QUIT], graceMs: 9, drains: true }, [
    ["TERM, INT and HUP are forwarded alone", "runs; TERM: forward 15; INT: forward 2; HUP: forward 1"],
    ["QUIT drains", "runs; QUIT: drain; drained: announce-drained, forward 3, arm grace 9"],
  ]);
});

test.each<[string, number, Partial<RunPolicy>, boolean]>([
  [
    "TERM is missed where it is no stop signal, and there is a drain",
    TERM,
    { stopSignals: [QUIT], drains: true },
    true,
  ],
  ["or a grace", TERM, { stopSignals: [QUIT], graceMs: 9 }, true],
  ["not where there is neither", TERM, { stopSignals: [QUIT] }, false],
  ["not where it is one", TERM, { stopSignals: [QUIT, TERM], drains: true }, false],
  ["nor rewritten to one", TERM, { stopSignals: [QUIT], rewrite: new Map([[TERM, QUIT]]), drains: true }, false],
  ["and no other signal is", INT, { stopSignals: [QUIT], drains: true }, false],
])("%s", (_, number, policy, isMissed) => {
  const event = { kind: "signal", signal: number } as const;
  expect(isMissedStop(event, { ...usual, ...policy })).toBe(isMissed);
  expect(isMissedStop({ ...event, wasIgnored: true }, { ...usual, ...policy })).toBe(false);
});

testLives({ graceMs: 9, drains: true }, [
  ["HUP and QUIT are forwarded, and ask for nothing", "runs; HUP: forward 1; QUIT: forward 3"],
]);

describe("with --signal-group what the child leaves:", () => {
  testLives({ endsGroup: true, graceMs: 9 }, [
    ["is told to end", "runs; exit 3: end-group false, quit; quit-done: exit 3", { graceMs: undefined }],
    ["has the grace", "runs; exit 3: arm grace 9, end-group true; group-gone: disarm grace, quit; quit-done: exit 3"],
    ["is killed at its end", "runs; exit 3: arm grace 9, end-group true; grace over: kill-all, quit; group-gone"],
    [
      "has what is left of the grace",
      "runs; TERM: forward 15, arm grace 9; exit 3: end-group true; grace over: kill-all, quit",
    ],
    [
      "is gone where it was killed",
      "runs; TERM: forward 15, arm grace 9; grace over: kill-all, arm kill 500; killed 9: disarm kill, quit",
    ],
    ["gets signals meanwhile", "runs; exit 3: arm grace 9, end-group true; INT: forward 2; wait over"],
  ]);
});
