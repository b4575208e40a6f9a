import { describe } from "bun:test";
import type { RunPolicy } from "../../../src/core/run/supervision-steps.ts";
import { INT, TERM, testLives, USR1, USR2 } from "./simulated-steps.ts";

describe("where a stop signal drains first:", () => {
  const withGrace: Partial<RunPolicy> = { graceMs: 5000 };

  testLives({ drains: true }, [
    ["it is held until that is over", "runs; TERM: drain; drained: forward 15; exit 0: quit"],
    ["that is over once", "runs; TERM: drain; drained: forward 15; drained"],
    [
      "a second one cuts it short, and the child gets both, in order",
      "runs; TERM: drain; INT: cut-drain, forward 15, forward 2; drained",
    ],
    ["the same one twice does so too", "runs; TERM: drain; TERM: cut-drain, forward 15, forward 15"],
    [
      "a third one is forwarded as it comes",
      "runs; TERM: drain; TERM: cut-drain, forward 15, forward 15; QUIT: forward 3",
    ],
    [
      "after a drain one is forwarded as it comes, and there is no second drain",
      "runs; TERM: drain; drained: forward 15; TERM: forward 15",
    ],
    ["others are forwarded meanwhile", "runs; TERM: drain; USR1: forward 10; WINCH: forward 28; drained: forward 15"],
    ["the child's end cuts it short", "runs; TERM: drain; exit 3: cut-drain, quit; drained"],
    [
      "the child's end cuts it short where the sidecars stay, too",
      "runs; TERM: drain; exit 3: cut-drain, stay --quit-on never, exit 3",
      { quitOn: "never" },
    ],
    ["an orphan's end does not", "runs; TERM: drain; exit 3 of 8"],
    ["the child's end after it cuts nothing", "runs; TERM: drain; drained: forward 15; exit 3: quit"],
    [
      "the grace begins when it is forwarded",
      "runs; TERM: drain; grace over; drained: forward 15, arm grace 5000; grace over: kill-all, arm kill 500",
      withGrace,
    ],
    [
      "the grace begins once where a second one cuts it short",
      "runs; TERM: drain; TERM: cut-drain, forward 15, forward 15, arm grace 5000; TERM: forward 15; exit 0: disarm grace, quit",
      withGrace,
    ],
    ["it is rewritten first", "runs; TERM: drain; drained: forward 12", { rewrite: new Map([[TERM, USR2]]) }],
    ["one that is not forwarded does not", "runs; TERM; drained", { rewrite: new Map([[TERM, 0]]) }],
    [
      "one that is not forwarded does not cut it short either",
      "runs; TERM: drain; INT; drained: forward 15",
      { rewrite: new Map([[INT, 0]]) },
    ],
    [
      "one that another is rewritten to does",
      "runs; USR1: drain; drained: forward 15",
      { rewrite: new Map([[USR1, TERM]]) },
    ],
    [
      "one that came while the child was started does so at its start",
      "starts; USR1; TERM; started: forward 10, drain; drained: forward 15",
    ],
    [
      "two that came while the child was started leave no time for it",
      "starts; TERM; INT; started: drain, cut-drain, forward 15, forward 2",
    ],
    ["one that ends the wait does not", "TERM: disarm wait, stop-waiting, quit; quit-done: exit 143"],
    ["the child's own end does not", "runs; exit 3: quit"],
  ]);
});
