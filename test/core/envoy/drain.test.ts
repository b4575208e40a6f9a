import { describe, expect, test } from "bun:test";
import {
  type DrainEvent,
  type DrainOutcome,
  type DrainPolicy,
  type DrainRequest,
  type DrainState,
  fitMinimum,
  step,
} from "../../../src/core/envoy/drain.ts";
import { describeOutcome } from "../../../src/core/envoy/drain-outcome.ts";
import {
  at,
  begun,
  counted,
  cut,
  deadlines,
  done,
  failed,
  poll,
  refused,
  testDrains,
  toCount,
  toldToCount,
  usual,
} from "./simulated-drain.ts";

describe("the usual drain:", () => {
  testDrains([
    ["nothing in flight", [...toCount, counted(0)], [...toldToCount, "end drained"]],
    [
      "requests, then none",
      [...toCount, counted(2), at("poll"), counted(1), at("poll"), counted(0)],
      [...toldToCount, poll, "ask count", poll, "ask count", "end drained"],
    ],
    [
      "connections",
      [...toCount, counted(0, 1), at("poll"), counted(0, 0)],
      [...toldToCount, poll, "ask count", "end drained"],
    ],
    [
      "as many as may be left, requests and connections together",
      [...toCount, counted(2, 2), at("poll"), counted(1, 2)],
      [...toldToCount, poll, "ask count", "end drained"],
      { maxInFlight: 3 },
    ],
    [
      "health that fails only after the minimum",
      [at("minimum"), done("fail-health")],
      [begun, "", "ask drain-listeners"],
    ],
    ["health that cannot be failed", [failed("fail-health"), at("minimum")], [begun, "", "ask drain-listeners"]],
    [
      "health that could not be failed by the minimum",
      [at("minimum"), failed("fail-health")],
      [begun, "", "ask drain-listeners"],
    ],
    [
      "listeners that cannot be drained",
      [done("fail-health"), at("minimum"), failed("drain-listeners"), counted(0)],
      [begun, "", "ask drain-listeners", "ask count", "end drained"],
    ],
    [
      "no minimum",
      [at("minimum"), done("fail-health")],
      ["arm bound 60000, arm last look 59750, arm minimum 0, ask fail-health", "", "ask drain-listeners"],
      { minMs: 0 },
    ],
    [
      "a bound shorter than the last look",
      [],
      ["arm bound 100, arm last look 0, arm minimum 50, ask fail-health"],
      { boundMs: 100, minMs: 50 },
    ],
  ]);
});

describe("beside a native sidecar:", () => {
  const native: Partial<DrainPolicy> = { failsHealth: false };
  const begunNative = `${deadlines}, ask drain-listeners`;

  testDrains([
    [
      "health is not failed: the listeners drain from the first, and are counted after the minimum",
      [done("drain-listeners"), at("minimum"), counted(1), at("poll"), counted(0)],
      [begunNative, "", "ask count", poll, "ask count", "end drained"],
      native,
    ],
    [
      "listeners that drain only after the minimum",
      [at("minimum"), done("drain-listeners")],
      [begunNative, "", "ask count"],
      native,
    ],
    [
      "listeners that cannot be drained",
      [failed("drain-listeners"), at("minimum")],
      [begunNative, "", "ask count"],
      native,
    ],
    ["it is not there", [refused("drain-listeners")], [begunNative, "end not there"], native],
    [
      "it has been up, and is not there",
      [refused("drain-listeners")],
      [begunNative, "end gone"],
      { ...native, wasUp: true },
    ],
    [
      "it goes while connections are still accepted",
      [done("drain-listeners"), at("minimum"), refused("count")],
      [begunNative, "", "ask count", "end exited"],
      native,
    ],
  ]);
});

describe("it goes meanwhile:", () => {
  testDrains([
    ["it is not there from the first", [refused("fail-health")], [begun, "end not there"]],
    ["it has been up, and is not there", [refused("fail-health")], [begun, "end gone"], { wasUp: true }],
    ["not there, noticed after the minimum", [at("minimum"), refused("fail-health")], [begun, "", "end not there"]],
    [
      "while connections are still accepted",
      [done("fail-health"), at("minimum"), refused("drain-listeners")],
      [begun, "", "ask drain-listeners", "end exited"],
    ],
    ["before the first count", [...toCount, refused("count")], [...toldToCount, "end exited"]],
    [
      "after a count",
      [...toCount, counted(3), at("poll"), refused("count")],
      [...toldToCount, poll, "ask count", "end exited"],
    ],
    [
      "after counts that failed",
      [...toCount, failed("count"), at("poll"), refused("count")],
      [...toldToCount, poll, "ask count", "end exited"],
    ],
  ]);
});

describe("an event that does not belong to the phase changes nothing:", () => {
  const all: readonly DrainEvent[] = [
    ...[done("fail-health"), done("drain-listeners"), counted(0)],
    ...[failed("fail-health"), failed("drain-listeners"), failed("count")],
    ...[refused("fail-health"), refused("drain-listeners"), refused("count")],
    ...[at("minimum"), at("poll"), at("last look"), at("bound"), cut],
  ];
  const ends = [at("bound"), cut];
  const answersTo = (request: DrainRequest) =>
    request === "count"
      ? [counted(0), failed("count"), refused("count")]
      : [done(request), failed(request), refused(request)];

  test.each<[DrainState, readonly DrainEvent[]]>([
    [{ phase: "failing-health", isMinimumOver: false }, [...ends, ...answersTo("fail-health"), at("minimum")]],
    [{ phase: "failing-health", isMinimumOver: true }, [...ends, ...answersTo("fail-health"), at("minimum")]],
    [{ phase: "accepting" }, [...ends, at("minimum")]],
    ...[false, true].map((isMinimumOver): [DrainState, readonly DrainEvent[]] => [
      { phase: "draining-listeners", isMinimumOver },
      [...ends, ...answersTo("drain-listeners"), at("minimum")],
    ]),
    [
      { phase: "counting", failures: 1, left: undefined },
      [...ends, ...answersTo("count"), at("poll"), at("last look")],
    ],
    [{ phase: "sitting-out" }, ends],
    [{ phase: "over", outcome: { kind: "drained" } }, []],
  ])("%j", (state, belonging) => {
    const isBelonging = (event: DrainEvent) => belonging.some((each) => Bun.deepEquals(each, event));
    for (const event of all.filter((event) => !isBelonging(event))) {
      expect(step(state, event, usual)).toStrictEqual([state, []]);
    }
  });
});

test.each([
  [5000, 60_000, 5000],
  [5000, 6000, 5000],
  [5000, 5500, 4500],
  [5000, 2000, 1000],
  [5000, 1000, 500],
  [5000, 0, 0],
  [0, 1000, 0],
])("a minimum of %d ms in a bound of %d ms is %d ms", (minMs, boundMs, expected) => {
  expect(fitMinimum(minMs, boundMs)).toBe(expected);
});

const doubt = "if its container has no drain as preStop hook, requests were cut off";

test.each<[DrainOutcome, boolean, string]>([
  [{ kind: "drained" }, true, "drained"],
  [{ kind: "gone" }, true, "Envoy had exited before the drain"],
  [{ kind: "exited", left: undefined }, true, `Envoy exited during the drain, before a count: ${doubt}`],
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
  expect(describeOutcome(outcome, false)).toEqual({ ok, text, ...(isDoubtful ? { isDoubtful: true } : {}) });
});

test.each<[Extract<DrainOutcome, { kind: "out of time" }>["left"] | undefined, string]>([
  [undefined, "before a count"],
  [{ requests: 1, connections: 0, hasRequests: true, countedBy: "listeners" }, "with 1 request at the last count"],
])("an Envoy that a hook held back leaves no doubt when it exits: %j", (left, when) => {
  const text = `Envoy exited during the drain, ${when}: its container's preStop hook, ebb drain or another, had ended`;
  expect(describeOutcome({ kind: "exited", left }, true)).toEqual({ ok: true, text });
  expect(describeOutcome({ kind: "gone" }, true)).toMatchObject({ ok: true, isDoubtful: true });
});

function left(requests: number, connections: number): DrainOutcome {
  return { kind: "out of time", left: { requests, connections, hasRequests: true, countedBy: "listeners" } };
}
