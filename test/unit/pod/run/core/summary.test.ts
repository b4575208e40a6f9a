import { expect, test } from "bun:test";
import { summarize } from "../../../../../src/pod/run/core/summary.ts";

test.each([
  [
    "a whole life",
    { wait: 10, run: 110.04, quit: 310.26 },
    { code: 3 },
    { waitedMs: 100, ranMs: 200.2, quitMs: 9.7, exitCode: 3 },
  ],
  [
    "a life with a drain",
    { wait: 10, run: 110, drain: 150, drained: 250.26, quit: 310 },
    { code: 3 },
    { waitedMs: 100, ranMs: 200, drainedMs: 100.3, quitMs: 10, exitCode: 3 },
  ],
  [
    "a drain that the child's end cut short",
    { wait: 10, run: 110, drain: 150, quit: 310 },
    { code: 3 },
    { waitedMs: 100, ranMs: 200, drainedMs: 160, quitMs: 10, exitCode: 3 },
  ],
  [
    "a drain that the child's end cut short, without a quit",
    { wait: 10, run: 110, drain: 150 },
    { code: 3 },
    { waitedMs: 100, ranMs: 210, drainedMs: 170, exitCode: 3 },
  ],
  ["no quit", { wait: 10, run: 110 }, { code: 0 }, { waitedMs: 100, ranMs: 210, exitCode: 0 }],
  ["no start", { wait: 10, quit: 20 }, undefined, { waitedMs: 10, quitMs: 300, exitCode: 69 }],
  [
    "a signal",
    { wait: 0, run: 0, quit: 320 },
    { signal: 9 },
    { waitedMs: 0, ranMs: 320, quitMs: 0, signal: "SIGKILL", exitCode: 137 },
  ],
])("%s is summed up", (_, since, exit, expected) => {
  expect(summarize({ since, now: 320, exit, exitCode: expected.exitCode })).toEqual(expected);
});
