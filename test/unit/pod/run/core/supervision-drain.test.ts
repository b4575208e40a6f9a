import { describe } from "bun:test";
import type { RunPolicy } from "../../../../../src/pod/run/core/supervision-steps.ts";
import { INT, TERM, testLives, USR1, USR2 } from "./simulated-steps.ts";

describe("where a stop signal drains first:", () => {
  const withGrace: Partial<RunPolicy> = { graceMs: 5000 };

  testLives({ drains: true }, [
    ["it is held until that is over", "runs; TERM: drain; drained: announce-drained, forward 15; exit 0: quit"],
    ["that is over once", "runs; TERM: drain; drained: announce-drained, forward 15; drained"],
    [
      "a second one cuts it short, and the child gets both, in order",
      "runs; TERM: drain; INT: cut-drain, announce-drained, forward 15, forward 2; drained",
    ],
    [
      "a third one is forwarded as it comes",
      "runs; TERM: drain; INT: cut-drain, announce-drained, forward 15, forward 2; TERM: forward 15",
    ],
    [
      "after a drain one is forwarded as it comes, and there is no second drain",
      "runs; TERM: drain; drained: announce-drained, forward 15; TERM: forward 15",
    ],
    [
      "others are forwarded meanwhile",
      "runs; TERM: drain; USR1: forward 10; WINCH: forward 28; drained: announce-drained, forward 15",
    ],
    ["the child's end cuts it short", "runs; TERM: drain; exit 3: cut-drain, quit; drained"],
    [
      "the child's end cuts it short where the sidecars stay, too",
      "runs; TERM: drain; exit 3: cut-drain, stay --quit-on never, exit 3",
      { quitOn: "never" },
    ],
    ["an orphan's end does not", "runs; TERM: drain; exit 3 of 8"],
    ["the child's end after it cuts nothing", "runs; TERM: drain; drained: announce-drained, forward 15; exit 3: quit"],
    [
      "the grace begins when it is forwarded",
      "runs; TERM: drain; grace over; drained: announce-drained, forward 15, arm grace 5000; grace over: kill-all, arm kill 500",
      withGrace,
    ],
    [
      "the grace begins once where a second one cuts it short",
      "runs; TERM: drain; INT: cut-drain, announce-drained, forward 15, forward 2, arm grace 5000; TERM: forward 15; exit 0: disarm grace, quit",
      withGrace,
    ],
    [
      "it is rewritten first",
      "runs; TERM: drain; drained: announce-drained, forward 12",
      { rewrite: new Map([[TERM, USR2]]) },
    ],
    ["one that is not forwarded does not", "runs; TERM; drained", { rewrite: new Map([[TERM, 0]]) }],
    [
      "one that is not forwarded does not cut it short either",
      "runs; TERM: drain; INT; drained: announce-drained, forward 15",
      { rewrite: new Map([[INT, 0]]) },
    ],
    [
      "one that another is rewritten to does",
      "runs; USR1: drain; drained: announce-drained, forward 15",
      { rewrite: new Map([[USR1, TERM]]) },
    ],
    [
      "one that came while the child was started does so at its start",
      "starts; USR1; TERM; started: forward 10, drain; drained: announce-drained, forward 15",
    ],
    [
      "two that came while the child was started leave no time for it",
      "starts; TERM; INT; started: drain, cut-drain, announce-drained, forward 15, forward 2",
    ],
    ["one that ends the wait does not", "TERM: disarm wait, stop-waiting, quit; quit-done: exit 143"],
    ["the child's own end does not", "runs; exit 3: quit"],
  ]);
});

describe("while it drains, a repeat, however late,", () => {
  const drains = "runs; TERM: drain";

  testLives({ drains: true }, [
    ["is the same stop, and the child gets one", `${drains}; TERM; TERM; drained: announce-drained, forward 15`],
    [
      "is another stop if it is another signal",
      `${drains}; TERM; INT: cut-drain, announce-drained, forward 15, forward 2`,
    ],
    ["is the same stop if it is the same by rewriting", `${drains}; INT`, { rewrite: new Map([[INT, TERM]]) }],
    ["is the same stop with INT, too", "runs; INT: drain; INT"],
    [
      "is meant, if it is typed at a terminal",
      "runs; typed INT: drain; typed INT: cut-drain, announce-drained, forward 2, forward 2",
    ],
    ["of any other signal is forwarded", `${drains}; USR1: forward 10; USR1: forward 10`],
    ["is forwarded once the drain is over", `${drains}; drained: announce-drained, forward 15; TERM: forward 15`],
    ["is forwarded where there is no drain", "runs; TERM: forward 15; TERM: forward 15", { drains: false }],
  ]);
});
