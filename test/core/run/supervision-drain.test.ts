import { describe } from "bun:test";
import type { RunPolicy } from "../../../src/core/run/supervision-steps.ts";
import {
  drained,
  exited,
  graceOver,
  INT,
  QUIT,
  quitDone,
  ready,
  signal,
  started,
  starting,
  TERM,
  testLives,
  USR1,
  USR2,
  WINCH,
  waiting,
} from "./simulated-steps.ts";

describe("where a stop signal drains first:", () => {
  const drains: Partial<RunPolicy> = { drains: true };
  const withGrace: Partial<RunPolicy> = { ...drains, graceMs: 5000 };
  const stopped = [ready, started, signal(TERM)];
  const toldStopped = [waiting, starting, "", "drain"];

  testLives([
    ["it is held until that is over", [...stopped, drained, exited(0)], [...toldStopped, "forward 15", "quit"], drains],
    ["that is over once", [...stopped, drained, drained], [...toldStopped, "forward 15", ""], drains],
    [
      "a second one cuts it short, and the child gets both, in order",
      [...stopped, signal(INT), drained],
      [...toldStopped, "cut-drain, forward 15, forward 2", ""],
      drains,
    ],
    [
      "the same one twice does so too",
      [...stopped, signal(TERM)],
      [...toldStopped, "cut-drain, forward 15, forward 15"],
      drains,
    ],
    [
      "a third one is forwarded as it comes",
      [...stopped, signal(TERM), signal(QUIT)],
      [...toldStopped, "cut-drain, forward 15, forward 15", "forward 3"],
      drains,
    ],
    [
      "after a drain one is forwarded as it comes, and there is no second drain",
      [...stopped, drained, signal(TERM)],
      [...toldStopped, "forward 15", "forward 15"],
      drains,
    ],
    [
      "others are forwarded meanwhile",
      [...stopped, signal(USR1), signal(WINCH), drained],
      [...toldStopped, "forward 10", "forward 28", "forward 15"],
      drains,
    ],
    [
      "the child's end cuts it short",
      [...stopped, exited(3), drained],
      [...toldStopped, "cut-drain, quit", ""],
      drains,
    ],
    [
      "the child's end cuts it short where the sidecars stay, too",
      [...stopped, exited(3)],
      [...toldStopped, "cut-drain, stay --quit-on never, exit 3"],
      { ...drains, quitOn: "never" },
    ],
    ["an orphan's end does not", [...stopped, exited(3, 8)], [...toldStopped, ""], drains],
    [
      "the child's end after it cuts nothing",
      [...stopped, drained, exited(3)],
      [...toldStopped, "forward 15", "quit"],
      drains,
    ],
    [
      "the grace begins when it is forwarded",
      [...stopped, graceOver, drained, graceOver],
      [...toldStopped, "", "forward 15, arm grace 5000", "kill-all, arm kill 500"],
      withGrace,
    ],
    [
      "the grace begins once where a second one cuts it short",
      [...stopped, signal(TERM), signal(TERM), exited(0)],
      [...toldStopped, "cut-drain, forward 15, forward 15, arm grace 5000", "forward 15", "disarm grace, quit"],
      withGrace,
    ],
    [
      "it is rewritten first",
      [...stopped, drained],
      [...toldStopped, "forward 12"],
      { ...drains, rewrite: new Map([[TERM, USR2]]) },
    ],
    [
      "one that is not forwarded does not",
      [...stopped, drained],
      [waiting, starting, "", "", ""],
      { ...drains, rewrite: new Map([[TERM, 0]]) },
    ],
    [
      "one that is not forwarded does not cut it short either",
      [...stopped, signal(INT), drained],
      [...toldStopped, "", "forward 15"],
      { ...drains, rewrite: new Map([[INT, 0]]) },
    ],
    [
      "one that another is rewritten to does",
      [ready, started, signal(USR1), drained],
      [...toldStopped, "forward 15"],
      { ...drains, rewrite: new Map([[USR1, TERM]]) },
    ],
    [
      "one that came while the child was started does so at its start",
      [ready, signal(USR1), signal(TERM), started, drained],
      [waiting, starting, "", "", "forward 10, drain", "forward 15"],
      drains,
    ],
    [
      "two that came while the child was started leave no time for it",
      [ready, signal(TERM), signal(INT), started],
      [waiting, starting, "", "", "drain, cut-drain, forward 15, forward 2"],
      drains,
    ],
    [
      "one that ends the wait does not",
      [signal(TERM), quitDone],
      [waiting, "disarm wait, stop-waiting, quit", "exit 143"],
      drains,
    ],
    ["the child's own end does not", [ready, started, exited(3)], [waiting, starting, "", "quit"], drains],
  ]);
});
