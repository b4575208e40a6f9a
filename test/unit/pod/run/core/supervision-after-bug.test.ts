import { expect, test } from "bun:test";
import { stepAfterBug } from "../../../../../src/pod/run/core/supervision-after-bug.ts";
import type { RunPolicy, State } from "../../../../../src/pod/run/core/supervision-steps.ts";
import type { ChildExit } from "../../../../../src/shared/core/exit.ts";
import { eventOf, usual } from "./simulated-steps.ts";

const waiting: State = { phase: "waiting", held: [] };
const running: State = { phase: "running", pid: 7, grace: "unset", draining: "not yet", isToEnd: false };
const quitting: State = { phase: "quitting", exitCode: 3 };
const deciding: State = { phase: "deciding", exitCode: 3 };
const ended: ChildExit = { code: 3 };

test.each<[state: State, event: string, exit: ChildExit | undefined, policy: Partial<RunPolicy>, step: string]>([
  [waiting, "ready", undefined, {}, "waiting"],
  [{ phase: "starting", held: [] }, "started", undefined, {}, "running"],
  [running, "TERM", undefined, {}, "running"],
  [running, "exit 3", ended, {}, "quitting 3: quit"],
  [running, "TERM", ended, {}, "quitting 3: quit"],
  [running, "exit 3", ended, { expectedCodes: [3] }, "quitting 0: quit"],
  [running, "exit 3", ended, { quitOn: "never" }, "over 3"],
  [running, "exit 3", ended, { hasPeers: true }, "deciding 3: decide"],
  [deciding, "TERM", ended, { hasPeers: true }, "deciding 3"],
  [deciding, "decided", ended, { hasPeers: true }, "quitting 3: quit"],
  [quitting, "TERM", ended, {}, "quitting 3"],
  [quitting, "quit-done", ended, {}, "over 3"],
])("in place of a step that threw: %j, %s, %j, %j: %s", (state, event, exit, policy, expected) => {
  const [next, actions] = stepAfterBug(state, eventOf(event), exit, { ...usual, ...policy });
  const phase = "exitCode" in next ? `${next.phase} ${next.exitCode}` : next.phase;
  expect([phase, ...actions.map(({ kind }) => kind)].join(": ")).toBe(expected);
});
