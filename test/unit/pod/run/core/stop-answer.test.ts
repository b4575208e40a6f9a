import { expect, test } from "bun:test";
import { answerToStop } from "../../../../../src/pod/run/core/stop-answer.ts";
import { step } from "../../../../../src/pod/run/core/supervision.ts";
import type { RunPolicy, State } from "../../../../../src/pod/run/core/supervision-steps.ts";
import { eventOf, INT, QUIT, TERM, USR1, usual } from "./simulated-steps.ts";

const waiting: State = { phase: "waiting", held: [] };
const starting = (...held: number[]): State => ({ phase: "starting", held });
const running: State = { phase: "running", pid: 7, grace: "unset", draining: "not yet", isToEnd: false };
const draining: State = { ...running, draining: TERM };
const drains = { drains: true };
const ending: State = { phase: "ending-group", exitCode: 0 };

test.each<[state: State, event: string, policy: Partial<RunPolicy>, answer: string]>([
  [waiting, "TERM", {}, "15 ending the wait"],
  [waiting, "QUIT", {}, "3 ending the wait"],
  [waiting, "USR1", {}, ""],
  [waiting, "wait over", {}, ""],
  [running, "TERM", {}, "15 forwarding it"],
  [running, "INT", {}, "2 forwarding it"],
  [running, "USR1", {}, ""],
  [running, "QUIT", {}, ""],
  [running, "QUIT", { stopSignals: [QUIT] }, "3 forwarding it"],
  [running, "TERM", { rewrite: new Map([[TERM, QUIT]]) }, "15 forwarding it"],
  [running, "TERM", { rewrite: new Map([[TERM, 0]]) }, ""],
  [running, "ignored TERM", {}, ""],
  [running, "exit 0", {}, ""],
  [running, "TERM", drains, "15 draining"],
  [running, "USR1", drains, ""],
  [draining, "INT", drains, "2 cutting the drain short"],
  [draining, "TERM", drains, ""],
  [draining, "drained", drains, ""],
  [starting(USR1, TERM), "started", {}, "15 forwarding it"],
  [starting(INT), "started", drains, "2 draining"],
  [starting(USR1), "started", drains, ""],
  [ending, "TERM", {}, "15 forwarding it"],
])("in %j, of %s with %j the log says: %j", (state, event, policy, answer) => {
  const all = { ...usual, ...policy };
  const told = answerToStop(state, eventOf(event), step(state, eventOf(event), all)[1], all);
  expect(told === undefined ? "" : `${told.signal} ${told.message.replace("received a stop signal: ", "")}`).toBe(
    answer,
  );
});
