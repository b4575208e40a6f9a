import { describe, expect, test } from "bun:test";
import { type DrainOutcome, type DrainState, step } from "../../../../../src/pod/envoy/core/drain.ts";
import { describeOutcome } from "../../../../../src/pod/envoy/core/drain-outcome.ts";
import { eventOf, testDrains, usual } from "./simulated-drain.ts";

describe("the usual drain:", () => {
  testDrains({}, [
    ["nothing in flight", "counts; counted 0: end drained"],
    ["requests, then none", "counts; counted 2: again; counted 1: again; counted 0: end drained"],
    ["connections", "counts; counted 0 1: again; counted 0: end drained"],
    [
      "as many as may be left, requests and connections together",
      "counts; counted 2 2: again; counted 1 2: end drained",
      { maxInFlight: 3 },
    ],
    ["health that fails only after the minimum", "minimum over; done fail-health: ask drain-listeners"],
    ["health that cannot be failed", "failed fail-health; minimum over: ask drain-listeners"],
    ["health that could not be failed by the minimum", "minimum over; failed fail-health: ask drain-listeners"],
    [
      "listeners that cannot be drained",
      "done fail-health; minimum over: ask drain-listeners; failed drain-listeners: ask count; counted 0: end drained",
    ],
    [
      "no minimum",
      "begin: arm bound 60000, arm last look 59750, arm minimum 0, ask fail-health; minimum over; done fail-health: ask drain-listeners",
      { minMs: 0 },
    ],
    [
      "a bound shorter than the last look",
      "begin: arm bound 100, arm last look 0, arm minimum 50, ask fail-health",
      { boundMs: 100, minMs: 50 },
    ],
  ]);
});

describe("beside a native sidecar:", () => {
  const begun = "begin: arm bound 60000, arm last look 59750, arm minimum 5000, ask drain-listeners";

  testDrains({ isListenersFirst: true }, [
    [
      "the listeners drain first, then health fails; both from the first moment, and the minimum follows",
      `${begun}; done drain-listeners: ask fail-health; done fail-health; minimum over: ask count; counted 1: again; counted 0: end drained`,
    ],
    [
      "listeners that drain only after the minimum",
      `${begun}; minimum over; done drain-listeners: ask fail-health; done fail-health: ask count`,
    ],
    [
      "health that fails only after the minimum",
      `${begun}; done drain-listeners: ask fail-health; minimum over; done fail-health: ask count`,
    ],
    [
      "listeners that cannot be drained",
      `${begun}; failed drain-listeners: ask fail-health; done fail-health; minimum over: ask count`,
    ],
    [
      "health that cannot be failed",
      `${begun}; done drain-listeners: ask fail-health; failed fail-health; minimum over: ask count`,
    ],
    ["it is not there", `${begun}; refused drain-listeners; minimum over: end not there`],
    ["it has been up, and is not there", `${begun}; refused drain-listeners: end gone`, { wasUp: true }],
    [
      "it goes before its health is failed",
      `${begun}; done drain-listeners: ask fail-health; refused fail-health: end exited`,
    ],
    [
      "it goes while connections are still accepted",
      `${begun}; done drain-listeners: ask fail-health; done fail-health; minimum over: ask count; refused count: end exited`,
    ],
  ]);
});

describe("it goes meanwhile:", () => {
  testDrains({}, [
    ["it is not there from the first", "refused fail-health; minimum over: end not there"],
    ["not there, and the drain is ended", "refused fail-health; cut: end cut short"],
    ["it has been up, and is not there", "refused fail-health: end gone", { wasUp: true }],
    ["not there, noticed after the minimum", "minimum over; refused fail-health: end not there"],
    [
      "while connections are still accepted",
      "done fail-health; minimum over: ask drain-listeners; refused drain-listeners: end exited",
    ],
    ["before the first count", "counts; refused count: end exited"],
    ["after a count", "counts; counted 3: again; refused count: end exited"],
    ["after counts that failed", "counts; failed count: again; refused count: end exited"],
  ]);
});

describe("an event that does not belong to the phase changes nothing:", () => {
  const all =
    "done fail-health, done drain-listeners, counted 0, failed fail-health, failed drain-listeners, failed count, refused fail-health, refused drain-listeners, refused count, minimum over, poll over, last look over, bound over, cut";
  const [health, listeners] = ["fail-health", "drain-listeners"].map((of) => `done ${of}, failed ${of}, refused ${of}`);

  test.each<[DrainState, string]>([
    [{ phase: "failing-health", isMinimumOver: false }, `bound over, cut, ${health}, minimum over`],
    [{ phase: "failing-health", isMinimumOver: true }, `bound over, cut, ${health}, minimum over`],
    [{ phase: "accepting" }, "bound over, cut, minimum over"],
    [{ phase: "draining-listeners", isMinimumOver: false }, `bound over, cut, ${listeners}, minimum over`],
    [{ phase: "draining-listeners", isMinimumOver: true }, `bound over, cut, ${listeners}, minimum over`],
    [
      { phase: "counting", failures: 1, left: undefined },
      "bound over, cut, counted 0, failed count, refused count, poll over, last look over",
    ],
    [{ phase: "sitting-out" }, "bound over, cut"],
    [{ phase: "not-there" }, "bound over, cut, minimum over"],
    [{ phase: "over", outcome: { kind: "drained" } }, ""],
  ])("%j", (state, belonging) => {
    for (const event of all.split(", ").filter((each) => !belonging.split(", ").includes(each))) {
      expect(step(state, eventOf(event), usual)).toStrictEqual([state, []]);
    }
  });
});

const doubt = "if its container has no preStop hook, ebb hold, requests were cut off";

test.each<[DrainOutcome, boolean, string]>([
  [{ kind: "drained" }, true, "drained"],
  [{ kind: "gone" }, true, "Envoy had exited before the drain"],
  [{ kind: "exited", left: undefined }, true, `Envoy exited during the drain, before the first count: ${doubt}`],
  [
    { kind: "exited", left: { requests: 2, connections: 1, hasRequests: true, countedBy: "listeners" } },
    true,
    `Envoy exited during the drain, with 2 requests, 1 connection at the last count: ${doubt}`,
  ],
  [left(1, 0), false, "out of time with 1 left (1 request)"],
  [left(0, 1), false, "out of time with 1 left (1 connection)"],
  [left(2, 3), false, "out of time with 5 left (2 requests, 3 connections)"],
  [{ kind: "not counted" }, false, "out of time; what was left could not be counted, and may have been cut off"],
  [
    { kind: "not there" },
    false,
    "connection refused: Envoy has exited already, or its admin interface is elsewhere (--admin)",
  ],
  [{ kind: "cut short" }, false, "cut short"],
])("%j in words", (outcome, ok, text) => {
  const isDoubtful = outcome.kind === "exited" || outcome.kind === "gone";
  expect(describeOutcome(outcome, { wasHeld: false, leavesRest: false })).toEqual({
    ok,
    text,
    ...(isDoubtful ? { isDoubtful: true } : {}),
  });
});

test.each<[Extract<DrainOutcome, { kind: "out of time" }>["left"] | undefined, string]>([
  [undefined, "before the first count"],
  [{ requests: 1, connections: 0, hasRequests: true, countedBy: "listeners" }, "with 1 request at the last count"],
])("an Envoy that a hook held back leaves no doubt when it exits: %j", (left, when) => {
  const text = `Envoy exited during the drain, ${when}: its container's preStop hook, ebb drain or another, had ended, or it was killed`;
  const ways = { wasHeld: true, leavesRest: false };
  expect(describeOutcome({ kind: "exited", left }, ways)).toEqual({ ok: true, text });
  expect(describeOutcome({ kind: "gone" }, ways)).toMatchObject({ ok: true, isDoubtful: true });
});

test.each<[DrainOutcome, string]>([
  [left(2, 1), "3 left (2 requests, 1 connection): the app ends them"],
  [{ kind: "not counted" }, "what is left could not be counted: the app ends it"],
])("%j where the app is to end what is left", (outcome, text) => {
  expect(describeOutcome(outcome, { wasHeld: false, leavesRest: true })).toEqual({ ok: true, text });
});

function left(requests: number, connections: number): DrainOutcome {
  return { kind: "out of time", left: { requests, connections, hasRequests: true, countedBy: "listeners" } };
}
