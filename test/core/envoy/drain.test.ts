import { describe, expect, test } from "bun:test";
import type { Directions } from "../../../src/core/envoy/directions.ts";
import {
  type Action,
  begin,
  type Deadline,
  type DrainPolicy,
  describeOutcome,
  type Event,
  fitMinimum,
  type Outcome,
  type State,
  type Step,
  scopeOf,
  step,
} from "../../../src/core/envoy/drain.ts";
import { inboundDrain } from "../../../src/core/envoy/inbound.ts";
import { actionsOf } from "../run/machine.ts";

const usual: DrainPolicy = { boundMs: 60_000, minMs: 5000, idle: 0, failsHealth: true, wasUp: false };

/** A title, the events of a drain, and what is done at the begin and in answer to each event. */
type Drain = readonly [
  title: string,
  events: readonly Event[],
  actions: readonly string[],
  policy?: Partial<DrainPolicy>,
];

function testDrains(drains: readonly Drain[]): void {
  const rows = drains.map(([title, events, actions, policy = {}]) => [title, events, actions, policy] as const);
  test.each(rows)("%s", (_, events, actions, policy) => {
    expect(live(events, { ...usual, ...policy })).toEqual([...actions]);
  });
}

function live(events: readonly Event[], policy: DrainPolicy): readonly string[] {
  const machine = {
    begin: () => begin(policy),
    step: (state: State, event: Event) => step(state, event, policy),
  };
  return actionsOf(machine, events).map(tell);
}

/** `arm poll 1000`, `ask count`, `end drained`. */
function tell(actions: readonly Action[]): string {
  return actions
    .map((action) => (action.kind === "end" ? `end ${tellOutcome(action.outcome)}` : words(action)))
    .join(", ");
}

function words({ kind, ...rest }: Exclude<Action, { kind: "end" }>): string {
  return [kind, ...Object.values(rest)].join(" ");
}

function tellOutcome(outcome: Outcome): string {
  if (outcome.kind !== "out of time") return outcome.kind;
  return `out of time ${outcome.left.requests} ${outcome.left.connections}`;
}

const done = (step: "fail-health" | "drain-listeners"): Event => ({ kind: "done", step });
const failed = (step: Step): Event => ({ kind: "failed", step, isRefused: false });
const refused = (step: Step): Event => ({ kind: "failed", step, isRefused: true });
const at = (of: Deadline): Event => ({ kind: "deadline", of });
const counted = (requests: number, connections = 0): Event => ({
  kind: "counted",
  inFlight: { requests, connections, hasRequests: true, countedBy: "listeners" },
});
const cut: Event = { kind: "cut" };

const deadlines = "arm bound 60000, arm last look 59750, arm minimum 5000";
const begun = `${deadlines}, ask fail-health`;
const poll = "arm poll 1000";
/** Until the first count. */
const toCount = [done("fail-health"), at("minimum"), done("drain-listeners")];
const toldToCount = [begun, "", "ask drain-listeners", "ask count"];

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
      { idle: 3 },
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
      [begunNative, "", "ask count", "end gone"],
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
      [begun, "", "ask drain-listeners", "end gone"],
    ],
    ["before the first count", [...toCount, refused("count")], [...toldToCount, "end gone"]],
    [
      "after a count",
      [...toCount, counted(3), at("poll"), refused("count")],
      [...toldToCount, poll, "ask count", "end gone"],
    ],
    [
      "after counts that failed",
      [...toCount, failed("count"), at("poll"), refused("count")],
      [...toldToCount, poll, "ask count", "end gone"],
    ],
  ]);
});

describe("counts that fail:", () => {
  const fail = [failed("count"), at("poll")];
  const toldToFail = [poll, "ask count"];
  const four = [...fail, ...fail, ...fail, ...fail];
  const toldFour = [...toldToFail, ...toldToFail, ...toldToFail, ...toldToFail];

  testDrains([
    [
      "five in a row: the time is sat out",
      [...toCount, ...four, failed("count"), at("poll"), at("last look"), at("bound")],
      [...toldToCount, ...toldFour, "sit-out", "", "", "end not counted"],
    ],
    [
      "four, then one that succeeds, then four",
      [...toCount, ...four, counted(1), at("poll"), ...four, counted(0)],
      [...toldToCount, ...toldFour, poll, "ask count", ...toldFour, "end drained"],
    ],
    [
      "one, when time runs out: what was seen before it does not count",
      [...toCount, counted(7), at("poll"), failed("count"), at("bound")],
      [...toldToCount, poll, "ask count", poll, "end not counted"],
    ],
    [
      "a late one, when the time is sat out",
      [...toCount, ...four, failed("count"), counted(0)],
      [...toldToCount, ...toldFour, "sit-out", ""],
    ],
  ]);
});

describe("out of time:", () => {
  testDrains([
    ["while health is failed", [at("bound")], [begun, "end not counted"]],
    ["while connections are accepted", [done("fail-health"), at("bound")], [begun, "", "end not counted"]],
    [
      "while listeners are drained",
      [done("fail-health"), at("minimum"), at("bound")],
      [begun, "", "ask drain-listeners", "end not counted"],
    ],
    ["before the first count", [...toCount, at("bound")], [...toldToCount, "end not counted"]],
    ["with what was counted", [...toCount, counted(2, 1), at("bound")], [...toldToCount, poll, "end out of time 2 1"]],
    [
      "with what the last look saw",
      [...toCount, counted(5), at("last look"), counted(2, 1), at("bound")],
      [...toldToCount, poll, "ask count", poll, "end out of time 2 1"],
    ],
    [
      "but drained where the last look says so",
      [...toCount, counted(5), at("last look"), counted(0)],
      [...toldToCount, poll, "ask count", "end drained"],
    ],
  ]);
});

describe("cut short:", () => {
  testDrains([
    ["while health is failed", [cut], [begun, "end cut short"]],
    ["while connections are accepted", [done("fail-health"), cut], [begun, "", "end cut short"]],
    [
      "while listeners are drained",
      [done("fail-health"), at("minimum"), cut],
      [begun, "", "ask drain-listeners", "end cut short"],
    ],
    ["while it counts", [...toCount, counted(2), cut], [...toldToCount, poll, "end cut short"]],
    ["twice", [cut, cut], [begun, "end cut short", ""]],
    ["after the end", [refused("fail-health"), cut], [begun, "end not there", ""]],
  ]);
});

describe("an event that does not belong to the phase changes nothing:", () => {
  const all: readonly Event[] = [
    ...[done("fail-health"), done("drain-listeners"), counted(0)],
    ...[failed("fail-health"), failed("drain-listeners"), failed("count")],
    ...[refused("fail-health"), refused("drain-listeners"), refused("count")],
    ...[at("minimum"), at("poll"), at("last look"), at("bound"), cut],
  ];
  const ends = [at("bound"), cut];
  const answersTo = (step: Step) =>
    step === "count" ? [counted(0), failed("count"), refused("count")] : [done(step), failed(step), refused(step)];

  test.each<[State, readonly Event[]]>([
    [{ phase: "failing-health", isMinimumOver: false }, [...ends, ...answersTo("fail-health"), at("minimum")]],
    [{ phase: "failing-health", isMinimumOver: true }, [...ends, ...answersTo("fail-health"), at("minimum")]],
    [{ phase: "accepting" }, [...ends, at("minimum")]],
    ...[false, true].map((isMinimumOver): [State, readonly Event[]] => [
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
    const isBelonging = (event: Event) => belonging.some((each) => Bun.deepEquals(each, event));
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

test.each<[Outcome, boolean, string]>([
  [{ kind: "drained" }, true, "drained"],
  [{ kind: "gone" }, true, "the sidecar has ended meanwhile: there is nothing left to drain"],
  [left(1, 0), false, "out of time with 1 left (1 request)"],
  [left(0, 1), false, "out of time with 1 left (1 connection)"],
  [left(2, 3), false, "out of time with 5 left (2 requests, 3 connections)"],
  [{ kind: "not counted" }, false, "out of time, and what was left could not be counted"],
  [{ kind: "not there" }, false, "nobody listens: it is gone already, or its admin interface is elsewhere (--admin)"],
  [{ kind: "cut short" }, false, "cut short"],
])("%j in words", (outcome, ok, text) => {
  expect(describeOutcome(outcome)).toEqual({ ok, text });
});

function left(requests: number, connections: number): Outcome {
  return { kind: "out of time", left: { requests, connections, hasRequests: true, countedBy: "listeners" } };
}

describe("a drain covers", () => {
  const all = "/drain_listeners?graceful&skip_exit";

  const none: Directions = { inbound: [], outbound: [], neither: [], ports: [] };

  test.each<[string, string, Partial<Directions>, string, readonly string[]]>([
    ["all where no listener says its direction", all, {}, all, []],
    ["all where none is inbound, outbound too", all, { outbound: ["out"] }, all, []],
    ["inbound alone where one is", all, { inbound: ["in"], outbound: ["out"] }, inboundDrain, ["out"]],
    ["inbound alone beside an app", inboundDrain, { outbound: ["out"] }, inboundDrain, ["out"]],
  ])("%s", (_, drainPath, directions, path, leftOut) => {
    expect(scopeOf(drainPath, { ...none, ...directions })).toMatchObject({ path, leftOut: new Set(leftOut) });
  });

  test("the ports of its listeners, and those that are known of its sidecar, but not those of its own endpoints", () => {
    const inbound = { clusters: "in", ports: [15006], isAllOfIt: true };
    const directions = { ...none, inbound: ["in"], neither: ["a", "b"], ports: [8080, 15006, 15021] };
    expect(scopeOf(inboundDrain, directions, inbound)).toMatchObject({
      inbound,
      ports: [8080, 15006],
      known: new Set(["in", "a", "b"]),
    });
  });
});
