import { expect, test } from "bun:test";
import fc from "fast-check";
import { step } from "../../../../../src/pod/run/core/supervision.ts";
import { deadlines, type Event } from "../../../../../src/pod/run/core/supervision-steps.ts";
import { forwarded } from "../../../../../src/shared/core/signal.ts";
import {
  actionsOf,
  always,
  CHILD,
  code,
  forwards,
  has,
  isRepeat,
  move,
  policy,
  signal,
  start,
  stops,
} from "./generated-runs.ts";
import { type Entry, isOver, simulate } from "./simulated-run.ts";

test("there is one drain at most: the first stop signal that is for the child begins it", () => {
  always((world) => {
    const { trace, policy } = world;
    const hasStarted = trace.some(({ event }) => event?.kind === "started");
    const lived = trace.filter(({ after }) => !["ending-group", "deciding", "quitting", "over"].includes(after.phase));
    const came = lived.flatMap(({ event }) => (event?.kind === "signal" ? [event.signal] : []));
    const begins = hasStarted && policy.drains && came.some((signal) => stops(signal, policy));
    expect(actionsOf(world, "drain")).toHaveLength(begins ? 1 : 0);
  });
});

test("what a drain holds reaches the child when that is over or cut short, and never where the child has ended", () => {
  always(({ trace, policy }) => {
    const at = trace.findIndex((entry) => has(entry, "drain"));
    if (at < 0 || has(trace[at] as Entry, "cut-drain")) return;
    const isEnd = (entry: Entry) =>
      has(entry, "cut-drain") ||
      entry.event?.kind === "drained" ||
      ["deciding", "quitting"].includes(entry.after.phase);
    const end = trace.slice(at + 1).find(isEnd);
    if (end?.event?.kind === "drained") expect(forwards(end)).toHaveLength(1);
    else if (end?.event?.kind === "signal") expect(forwards(end)).toHaveLength(2);
    else expect(end?.hasChild).toBe(false);
    for (const entry of trace.slice(at + 1, trace.indexOf(end as Entry))) {
      if (entry.event?.kind !== "signal" || !stops(entry.event.signal, policy)) continue;
      expect(isRepeat(entry, policy)).toBe(true);
      expect(entry.actions).toEqual([]);
    }
  });
});

test("a drain is cut short at most once", () => {
  always((world) => {
    expect(actionsOf(world, "cut-drain").length).toBeLessThanOrEqual(actionsOf(world, "drain").length);
  });
});

test("a wait that has a bound has its deadline, and no other", () => {
  always((world) => {
    const { waitMs = Number.POSITIVE_INFINITY } = world.policy;
    const arms = actionsOf(world, "arm").filter(({ deadline }) => deadline === "wait");
    expect(arms.map(({ ms }) => ms)).toEqual(Number.isFinite(waitMs) ? [waitMs] : []);
    const joined = world.trace.some(({ event, before }) => event?.kind === "joined" && before?.phase === "waiting");
    const waits = world.policy.waitMs !== undefined && (joined || !world.policy.hasPeers);
    expect(actionsOf(world, "wait")).toHaveLength(waits ? 1 : 0);
  });
});

test("no deadline outlives its phase", () => {
  const own = {
    waiting: ["wait"],
    starting: [],
    running: ["grace", "kill"],
    "ending-group": ["grace"],
    deciding: [],
    quitting: [],
    over: [],
  } as const;
  always(({ trace }) => {
    for (const { armed, after } of trace) expect(own[after.phase]).toEqual(expect.arrayContaining(armed));
  });
});

test("the grace begins once, with a stop signal that is forwarded or what the child leaves, and its end kills all once", () => {
  always((world) => {
    const { trace, policy } = world;
    const stopping = new Set([...forwarded].filter((from) => stops(from, policy)));
    const asStop = new Set([...stopping].map((from) => policy.rewrite.get(from) ?? from));
    const toChild = trace.filter(({ before }) => before?.phase !== "ending-group").flatMap(forwards);
    const leaves = trace.some(({ after }) => after.phase === "ending-group");
    const arms = actionsOf(world, "arm").filter(({ deadline }) => deadline === "grace");
    const hasGrace = policy.graceMs !== undefined;
    const mustBegin = leaves || toChild.some((signal) => policy.stopSignals.includes(signal));
    const mayBegin = leaves || toChild.some((signal) => asStop.has(signal));
    expect(arms.length).toBeGreaterThanOrEqual(hasGrace && mustBegin ? 1 : 0);
    expect(arms.length).toBeLessThanOrEqual(hasGrace && mayBegin ? 1 : 0);
    expect(arms.map(({ ms }) => ms as number | undefined)).toEqual(arms.map(() => policy.graceMs));
    for (const entry of trace) {
      const begins = entry.actions.some((action) => action.kind === "arm" && action.deadline === "grace");
      if (begins && entry.hasChild) expect(forwards(entry)).not.toEqual([]);
    }
    const lived = trace.filter(({ before }) => before?.phase === "running" || before?.phase === "ending-group");
    const ended = lived.filter(({ event }) => event?.kind === "deadline" && event.of === "grace");
    const left = trace.filter(({ event, before }) => {
      return before?.phase === "running" && event?.kind === "deadline" && event.of === "kill";
    });
    expect(actionsOf(world, "leave-child")).toHaveLength(left.length);
    expect(actionsOf(world, "kill-all")).toHaveLength(ended.length);
    expect(ended.length).toBeLessThanOrEqual(1);
  });
});

test("what the child leaves in its group is told to end once, with --signal-group alone, unless it was killed already", () => {
  always((world) => {
    const at = world.trace.findIndex(({ event }) => event?.kind === "reaped" && event.pid === CHILD);
    const wasKilled = world.trace.slice(0, at).some((entry) => has(entry, "kill-all"));
    const expected = at >= 0 && world.policy.endsGroup && !wasKilled;
    expect(actionsOf(world, "end-group")).toEqual(
      expected ? [{ kind: "end-group", watch: world.policy.graceMs !== undefined }] : [],
    );
  });
});

test("the child's end ends the run: nothing but the other app containers, the quit, and the grace of what it leaves, is waited for", () => {
  always(({ trace, policy }) => {
    const reaped = trace.find(({ event }) => event?.kind === "reaped" && event.pid === CHILD);
    if (reaped === undefined) return;
    const [left] = step(reaped.after, { kind: "group-gone" }, policy);
    const [told] = step(left, { kind: "decided", stay: undefined }, policy);
    const [state] = step(told, { kind: "quit-done" }, policy);
    expect(state.phase).toBe("over");
  });
});

const anyEvent: fc.Arbitrary<Event> = fc.oneof(
  fc.constantFrom<Event>(
    { kind: "joined" },
    { kind: "ready" },
    { kind: "decided", stay: undefined },
    { kind: "quit-done" },
    { kind: "drained" },
    { kind: "group-gone" },
  ),
  fc.record({ kind: fc.constant("deadline"), of: fc.constantFrom(...deadlines) }),
  fc.record({ kind: fc.constantFrom("wait-failed", "start-failed"), exitCode: code }),
  fc.record({ kind: fc.constant("started"), pid: fc.constantFrom(CHILD, 8) }),
  fc.record({ kind: fc.constant("signal"), signal }),
  fc.record({
    kind: fc.constant("reaped"),
    pid: fc.constantFrom(CHILD, 8),
    exit: fc.oneof(fc.record({ code }), fc.record({ signal })),
  }),
);

test("whatever comes after the end, nothing more is done", () => {
  fc.assert(
    fc.property(policy, start, fc.array(move), fc.array(anyEvent, { minLength: 1 }), (policy, start, moves, events) => {
      const { trace, ...world } = simulate(policy, start, moves);
      expect(isOver({ trace, ...world })).toBe(true);
      const end = (trace.at(-1) as Entry).after;
      for (const event of events) expect(step(end, event, policy)).toStrictEqual([end, []]);
    }),
  );
});

test("the same event in the same state has the same answer, and changes neither", () => {
  always(({ trace, policy }) => {
    const rewrite = [...policy.rewrite];
    for (const { before, event, after, actions } of trace) {
      if (before === undefined || event === undefined) continue;
      expect(step(before, event, policy)).toEqual([after, actions]);
    }
    expect([...policy.rewrite]).toEqual(rewrite);
  });
});
