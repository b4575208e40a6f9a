import { expect, test } from "bun:test";
import fc from "fast-check";
import { exitCodeOf } from "../../../src/core/run/exit.ts";
import { reasonToStay } from "../../../src/core/run/quit-policy.ts";
import { endsWait, forwarded } from "../../../src/core/run/signal.ts";
import { step } from "../../../src/core/run/supervision.ts";
import type { Action, Event, RunPolicy } from "../../../src/core/run/supervision-steps.ts";
import { type Entry, isOver, type Move, simulate, type World } from "./simulated-run.ts";

const CHILD = 7;
const signal = fc.constantFrom(...forwarded);
const code = fc.constantFrom(0, 1, 3, 127, 143, 255);

const policy: fc.Arbitrary<RunPolicy> = fc.record({
  quitOn: fc.constantFrom("always", "success", "never"),
  restartPolicy: fc.constantFrom(undefined, "Always", "OnFailure", "Never"),
  waitMs: fc.constantFrom(undefined, 0, 5000, Number.POSITIVE_INFINITY),
  onWaitTimeout: fc.constantFrom("fail", "start"),
  waitFailureCode: fc.constant(69),
  stopSignals: fc.constantFrom([15, 2], [3], [1, 40]),
  endsGroup: fc.boolean(),
  drains: fc.boolean(),
  graceMs: fc.constantFrom(undefined, 0, 5000),
  rewrite: fc.array(fc.tuple(signal, fc.oneof(signal, fc.constant(0)))).map((pairs) => new Map(pairs)),
  expectedCodes: fc.subarray([143, 3, 137]),
});

const start: fc.Arbitrary<World["start"]> = fc.oneof(
  { weight: 4, arbitrary: fc.constant({ pid: CHILD }) },
  { weight: 1, arbitrary: fc.constantFrom({ exitCode: 127 }, { exitCode: 126 }) },
);

const move: fc.Arbitrary<Move> = fc.oneof(
  { weight: 12, arbitrary: fc.constant({ kind: "read" } as const) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant("signal"), signal }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("signal"), signal, isEarly: fc.constant(true) }) },
  { weight: 3, arbitrary: fc.constant({ kind: "become-ready" } as const) },
  { weight: 1, arbitrary: fc.constant({ kind: "fail-wait" } as const) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("end-child"), code }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("end-orphan"), pid: fc.constantFrom(8, 9) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("run-out"), of: fc.constantFrom("wait", "grace") }) },
  { weight: 2, arbitrary: fc.constant({ kind: "end-drain" } as const) },
  { weight: 2, arbitrary: fc.constant({ kind: "end-group" } as const) },
  { weight: 1, arbitrary: fc.constant({ kind: "answer-quit" } as const) },
);

/** Any interleaving of what can happen to a run. */
function always(holds: (world: World) => void): void {
  const moves = fc.array(move, { maxLength: 60, size: "max" });
  const property = fc.property(policy, start, moves, (policy, start, moves) => holds(simulate(policy, start, moves)));
  fc.assert(property, { numRuns: 1000 });
}

function actionsOf<K extends Action["kind"]>({ trace }: World, kind: K): readonly Extract<Action, { kind: K }>[] {
  const all = trace.flatMap(({ actions }) => actions);
  return all.filter((action): action is Extract<Action, { kind: K }> => action.kind === kind);
}

const forwards = ({ actions }: Entry): readonly number[] =>
  actions.flatMap((action) => (action.kind === "forward" ? [action.signal] : []));

test("a run does nothing out of place, and always ends", () => {
  always((world) => {
    expect(world.wrong).toEqual([]);
    expect(world.child).not.toBe("alive");
  });
});

test("a run exits once, with nothing after it, and with the code of what ended it", () => {
  always((world) => {
    const { trace, policy } = world;
    expect(actionsOf(world, "exit")).toEqual([{ kind: "exit", code: codeOf(trace, policy) }]);
    expect(trace.findLast(({ actions }) => actions.length > 0)?.actions.at(-1)?.kind).toBe("exit");
  });
});

/** The exit code that the events call for. */
function codeOf(trace: readonly Entry[], policy: RunPolicy): number {
  let isWaiting = policy.waitMs !== undefined;
  for (const { event } of trace) {
    if (event?.kind === "reaped" && event.pid === CHILD) return exitCodeOf(event.exit, policy.expectedCodes);
    if (event?.kind === "start-failed") return event.exitCode;
    if (!isWaiting) continue;
    if (event?.kind === "wait-failed") return event.exitCode;
    if (event?.kind === "signal" && endsTheWait(event.signal, policy)) return 128 + event.signal;
    if (event?.kind === "deadline" && policy.onWaitTimeout === "fail") return policy.waitFailureCode;
    isWaiting = event?.kind !== "ready" && event?.kind !== "deadline";
  }
  throw new Error("nothing ended it");
}

test("the sidecars are quit once, unless the policy says that they stay; then that is said", () => {
  always((world) => {
    const [exit] = actionsOf(world, "exit");
    const reason = reasonToStay(exit?.code ?? -1, world.policy);
    expect(actionsOf(world, "quit")).toHaveLength(reason === undefined ? 1 : 0);
    expect(actionsOf(world, "stay").map(({ reason }) => reason)).toEqual(reason === undefined ? [] : [reason]);
  });
});

const has = ({ actions }: Entry, kind: Action["kind"]): boolean => actions.some((action) => action.kind === kind);

/** Whether a signal asks the child to stop: as it came, or as it is forwarded. */
function stops(signal: number, { rewrite, stopSignals }: RunPolicy): boolean {
  const sent = rewrite.get(signal) ?? signal;
  return sent !== 0 && (stopSignals.includes(signal) || stopSignals.includes(sent));
}

function endsTheWait(signal: number, policy: RunPolicy): boolean {
  return endsWait(signal) || policy.stopSignals.includes(signal) || stops(signal, policy);
}

type SignalEvent = Extract<Event, { kind: "signal" }>;

/** Whether it came too early for the child. */
function isDropped(event: SignalEvent, policy: RunPolicy): boolean {
  return event.isEarly === true && !endsTheWait(event.signal, policy);
}

test("each signal that came before the child is dropped where it neither ends the wait nor is blocked in the child, and no other", () => {
  always(({ trace, policy }) => {
    for (const { event, before, actions } of trace) {
      const isOver = before === undefined || ["clearing", "quitting", "over"].includes(before.phase);
      const drops = !isOver && event?.kind === "signal" && isDropped(event, policy);
      expect(actions.filter(({ kind }) => kind === "drop")).toEqual(
        drops ? [{ kind: "drop", signal: event.signal }] : [],
      );
    }
  });
});

test("each signal that comes while the child lives is forwarded to it, at once, unless it begins a drain", () => {
  always(({ trace, policy }) => {
    for (const entry of trace) {
      const { event, hasChild } = entry;
      if (event?.kind !== "signal" || isDropped(event, policy)) continue;
      const sent = policy.rewrite.get(event.signal) ?? event.signal;
      if (has(entry, "drain")) expect(policy.drains && stops(event.signal, policy)).toBe(true);
      const hasOne = hasChild || entry.before?.phase === "clearing";
      const isForwarded = hasOne && sent !== 0 && !has(entry, "drain");
      if (has(entry, "cut-drain")) expect(forwards(entry).at(-1)).toBe(sent);
      else expect(forwards(entry)).toEqual(isForwarded ? [sent] : []);
    }
  });
});

test("each signal that came before the child started is forwarded to it at its start, unless it begins a drain", () => {
  always(({ trace, policy }) => {
    const at = trace.findIndex(({ event }) => event?.kind === "started");
    if (at < 0) return;
    const came = trace
      .slice(0, at)
      .flatMap(({ event }) => (event?.kind === "signal" && !isDropped(event, policy) ? [event.signal] : []));
    const stopping = new Set(came.filter((signal) => stops(signal, policy)));
    const isHeld = policy.drains && stopping.size === 1;
    const wanted = came
      .filter((signal) => !(isHeld && stopping.has(signal)))
      .map((signal) => policy.rewrite.get(signal) ?? signal)
      .filter((signal) => signal !== 0);
    const entry = trace[at] as Entry;
    expect(has(entry, "drain")).toBe(policy.drains && stopping.size > 0);
    expect(new Set(forwards(entry))).toEqual(new Set(wanted));
    expect(forwards(entry).length).toBeLessThanOrEqual(wanted.length);
  });
});

test("there is one drain at most: the first stop signal that is for the child begins it", () => {
  always((world) => {
    const { trace, policy } = world;
    const hasStarted = trace.some(({ event }) => event?.kind === "started");
    const lived = trace.filter(({ after }) => !["clearing", "quitting", "over"].includes(after.phase));
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
      has(entry, "cut-drain") || entry.event?.kind === "drained" || entry.after.phase === "quitting";
    const end = trace.slice(at + 1).find(isEnd);
    if (end?.event?.kind === "drained") expect(forwards(end)).toHaveLength(1);
    else if (end?.event?.kind === "signal") expect(forwards(end)).toHaveLength(2);
    else expect(end?.hasChild).toBe(false);
    for (const entry of trace.slice(at + 1, trace.indexOf(end as Entry))) {
      if (entry.event?.kind === "signal") expect(stops(entry.event.signal, policy)).toBe(false);
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
    expect(actionsOf(world, "wait")).toHaveLength(world.policy.waitMs === undefined ? 0 : 1);
  });
});

test("no deadline outlives its phase", () => {
  const own = {
    waiting: ["wait"],
    starting: [],
    running: ["grace"],
    clearing: ["grace"],
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
    const toChild = trace.filter(({ before }) => before?.phase !== "clearing").flatMap(forwards);
    const leaves = trace.some(({ after }) => after.phase === "clearing");
    const arms = actionsOf(world, "arm").filter(({ deadline }) => deadline === "grace");
    const hasGrace = policy.graceMs !== undefined;
    const mustBegin = leaves || toChild.some((signal) => policy.stopSignals.includes(signal));
    const mayBegin = leaves || toChild.some((signal) => asStop.has(signal));
    expect(arms.length).toBeGreaterThanOrEqual(hasGrace && mustBegin ? 1 : 0);
    expect(arms.length).toBeLessThanOrEqual(hasGrace && mayBegin ? 1 : 0);
    expect(arms.map(({ ms }) => ms as number | undefined)).toEqual(arms.map(() => policy.graceMs));
    for (const entry of trace) if (has(entry, "arm") && entry.hasChild) expect(forwards(entry)).not.toEqual([]);
    const lived = trace.filter(({ before }) => before?.phase === "running" || before?.phase === "clearing");
    const ended = lived.filter(({ event }) => event?.kind === "deadline" && event.of === "grace");
    expect(actionsOf(world, "kill-all")).toHaveLength(ended.length);
    expect(ended.length).toBeLessThanOrEqual(1);
  });
});

test("what the child leaves in its group is told to end once, with --group alone, unless it was killed already", () => {
  always((world) => {
    const at = world.trace.findIndex(({ event }) => event?.kind === "reaped" && event.pid === CHILD);
    const wasKilled = world.trace.slice(0, at).some((entry) => has(entry, "kill-all"));
    const expected = at >= 0 && world.policy.endsGroup && !wasKilled;
    expect(actionsOf(world, "end-group")).toEqual(
      expected ? [{ kind: "end-group", watch: world.policy.graceMs !== undefined }] : [],
    );
  });
});

test("the child's end ends the run: nothing but the quit, and the grace of what it leaves, is waited for", () => {
  always(({ trace, policy }) => {
    const reaped = trace.find(({ event }) => event?.kind === "reaped" && event.pid === CHILD);
    if (reaped === undefined) return;
    const [left] = step(reaped.after, { kind: "group-gone" }, policy);
    const [state] = step(left, { kind: "quit-done" }, policy);
    expect(state.phase).toBe("over");
  });
});

const anyEvent: fc.Arbitrary<Event> = fc.oneof(
  fc.constantFrom<Event>(
    { kind: "ready" },
    { kind: "quit-done" },
    { kind: "drained" },
    { kind: "group-gone" },
    { kind: "deadline", of: "wait" },
    { kind: "deadline", of: "grace" },
  ),
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
