import { describe } from "bun:test";
import type { Event, RunPolicy } from "../../../src/core/run/supervision-steps.ts";
import {
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
  testLives,
  USR1,
  waiting,
  waitOver,
} from "./simulated-steps.ts";

describe("grace:", () => {
  const grace: Partial<RunPolicy> = { graceMs: 5000 };
  const stop = "forward 15, arm grace 5000";
  const kill = "kill-all, arm kill 500";
  const killOver: Event = { kind: "deadline", of: "kill" };
  const stopped = [ready, started, signal(TERM)];

  testLives([
    ["a stop signal begins it", stopped, [waiting, starting, "", stop], grace],
    ["0 ms is a grace too", stopped, [waiting, starting, "", "forward 15, arm grace 0"], { graceMs: 0 }],
    ["no other signal does", [ready, started, signal(USR1)], [waiting, starting, "", "forward 10"], grace],
    [
      "a second stop signal does not begin it again",
      [...stopped, signal(INT)],
      [waiting, starting, "", stop, "forward 2"],
      grace,
    ],
    [
      "its end kills the group, once",
      [...stopped, graceOver, graceOver],
      [waiting, starting, "", stop, kill, ""],
      grace,
    ],
    [
      "a child that SIGKILL does not end is left, with the code of SIGKILL",
      [...stopped, graceOver, killOver, quitDone, killed(9)],
      [waiting, starting, "", stop, kill, "leave-child, quit", "exit 137", ""],
      grace,
    ],
    [
      "it is left where the sidecars stay, too",
      [...stopped, graceOver, killOver],
      [waiting, starting, "", stop, kill, "leave-child, stay --quit-on never, exit 137"],
      { ...grace, quitOn: "never" },
    ],
    ["no child is left before", [...stopped, killOver], [waiting, starting, "", stop, ""], grace],
    [
      "after its end signals are forwarded, and it does not begin again",
      [...stopped, graceOver, signal(TERM), killed(9)],
      [waiting, starting, "", stop, kill, "forward 15", "disarm kill, quit"],
      grace,
    ],
    ["the child's end ends it", [...stopped, exited(0)], [waiting, starting, "", stop, "disarm grace, quit"], grace],
    ["an orphan's end does not", [...stopped, exited(0, 8)], [waiting, starting, "", stop, ""], grace],
    ["a stale one does nothing", [ready, started, graceOver], [waiting, starting, "", ""], grace],
    ["nor does a stale wait", [...stopped, waitOver], [waiting, starting, "", stop, ""], grace],
    ["a held stop signal begins it at the start", [ready, signal(TERM), started], [waiting, starting, "", stop], grace],
  ]);
});

describe("signals before the child is there:", () => {
  const early = (signal: number): Event => ({ kind: "signal", signal, isEarly: true });
  testLives([
    [
      "one that the child could not handle yet is dropped",
      [early(HUP), ready, started],
      [waiting, "drop 1", starting, ""],
    ],
    ["each time", [early(HUP), early(HUP), early(USR1)], [waiting, "drop 1", "drop 1", "drop 10"]],
    ["between ready and started too", [ready, early(USR1), started], [waiting, starting, "drop 10", ""]],
    ["and one that is heard of after the start", [ready, started, early(USR1)], [waiting, starting, "", "drop 10"]],
    ["QUIT ends the wait", [early(QUIT)], [waiting, "disarm wait, stop-waiting, quit"]],
    ["a stop signal is never dropped", [ready, started, early(TERM)], [waiting, starting, "", "forward 15"]],
    ["nor QUIT", [ready, started, early(QUIT)], [waiting, starting, "", "forward 3"]],
  ]);
});

describe("with --stop-signal QUIT:", () => {
  const quits: Partial<RunPolicy> = { stopSignals: [QUIT], graceMs: 9, drains: true };
  testLives([
    [
      "TERM, INT and HUP are forwarded alone",
      [ready, started, signal(TERM), signal(INT), signal(HUP)],
      [waiting, starting, "", "forward 15", "forward 2", "forward 1"],
      quits,
    ],
    [
      "QUIT drains",
      [ready, started, signal(QUIT), drained],
      [waiting, starting, "", "drain", "forward 3, arm grace 9"],
      quits,
    ],
  ]);
});

describe("HUP and QUIT are forwarded, and ask for nothing:", () => {
  const all: Partial<RunPolicy> = { graceMs: 9, drains: true };
  testLives([
    ["", [ready, started, signal(HUP), signal(QUIT)], [waiting, starting, "", "forward 1", "forward 3"], all],
  ]);
});

describe("with --signal-group what the child leaves:", () => {
  const group: Partial<RunPolicy> = { endsGroup: true };
  const graced: Partial<RunPolicy> = { endsGroup: true, graceMs: 9 };
  const gone: Event = { kind: "group-gone" };
  const run = [ready, started];
  const ran = [waiting, starting, ""];
  testLives([
    ["is told to end", [...run, exited(3), quitDone], [...ran, "end-group false, quit", "exit 3"], group],
    [
      "has the grace",
      [...run, exited(3), gone, quitDone],
      [...ran, "arm grace 9, end-group true", "disarm grace, quit", "exit 3"],
      graced,
    ],
    [
      "is killed at its end",
      [...run, exited(3), graceOver, gone],
      [...ran, "arm grace 9, end-group true", "kill-all, quit", ""],
      graced,
    ],
    [
      "has what is left of the grace",
      [...run, signal(TERM), exited(3), graceOver],
      [...ran, "forward 15, arm grace 9", "end-group true", "kill-all, quit"],
      graced,
    ],
    [
      "is gone where it was killed",
      [...run, signal(TERM), graceOver, killed(9)],
      [...ran, "forward 15, arm grace 9", "kill-all, arm kill 500", "disarm kill, quit"],
      graced,
    ],
    [
      "gets signals meanwhile",
      [...run, exited(3), signal(INT), waitOver],
      [...ran, "arm grace 9, end-group true", "forward 2", ""],
      graced,
    ],
  ]);
});
