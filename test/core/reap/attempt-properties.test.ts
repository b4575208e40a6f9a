import { expect, test } from "bun:test";
import fc from "fast-check";
import { begin, step } from "../../../src/core/reap/attempt.ts";
import type { Action, AttemptPolicy, Event, Observation, State } from "../../../src/core/reap/attempt-steps.ts";
import type { Ending, Means } from "../../../src/core/reap/means.ts";
import type { Verdict } from "../../../src/core/reap/verdict.ts";

const policy: fc.Arbitrary<AttemptPolicy> = fc.record({
  rounds: fc.integer({ min: 1, max: 3 }),
  answerMs: fc.constant(30_000),
  rest: fc.constant({ firstMs: 1000, longestMs: 60_000 }),
  chance: fc.double({ min: 0, max: 1, noNaN: true }),
});

/** How the world around one attempt behaves: what each means does, and what else happens at which step. */
interface World {
  readonly policy: AttemptPolicy;
  /** By sidecar, how many means it has, and the one that it heeds; undefined: none. */
  readonly sidecars: readonly { readonly means: number; readonly heeds: number | undefined }[];
  /** What happens to requests, in order; afterwards all goes well. */
  readonly troubles: readonly ("unavailable" | "hangs" | "late")[];
  readonly happens: { readonly at: number; readonly what: "stop" | "replaced" | "opts-out" | "ends" } | undefined;
}

const world: fc.Arbitrary<World> = fc.record({
  policy,
  sidecars: fc.array(
    fc.record({ means: fc.integer({ min: 1, max: 3 }), heeds: fc.option(fc.nat(2), { nil: undefined }) }),
    { minLength: 1, maxLength: 3 },
  ),
  troubles: fc.array(fc.constantFrom("unavailable", "hangs", "late"), { maxLength: 6 }),
  happens: fc.option(fc.record({ at: fc.nat(12), what: fc.constantFrom("stop", "replaced", "opts-out", "ends") }), {
    nil: undefined,
  }),
});

interface Entry {
  readonly event: Event | undefined;
  readonly before: State | undefined;
  readonly after: State;
  readonly actions: readonly Action[];
}

interface Told {
  readonly trace: readonly Entry[];
  /** Acts that reached a pod that was not to be reaped then. */
  readonly wrong: readonly string[];
}

/** Runs an attempt to its end, and beyond; the trace of it. */
function simulate({ policy, sidecars, troubles, happens }: World): Told {
  const left = new Map(sidecars.map((each, at) => [`s${at}`, each]));
  const wrong: string[] = [];
  const trace: Entry[] = [];
  const queue: Event[] = [];
  const ahead = [...troubles];
  let fate: Observation | undefined;
  const observation = (): Observation => fate ?? observationOf(left);
  let [state, actions] = begin(policy);
  let event: Event | undefined;
  let before: State | undefined;
  for (let at = 0; at < 500; at += 1) {
    trace.push({ event, before, after: state, actions });
    if (happens?.at === at) {
      if (happens.what === "replaced") fate = { kind: "gone" };
      if (happens.what === "opts-out") fate = { kind: "leave", rule: "opted-out", reason: "no" };
      if (happens.what === "ends") left.clear();
      queue.push(happens.what === "stop" ? { kind: "stop" } : { kind: "changed", observation: observation() });
    }
    for (const action of actions) {
      if (action.kind === "arm" && action.deadline !== "answer") queue.push({ kind: "deadline", of: action.deadline });
      if (action.kind === "disarm") drop(queue, action.deadline);
      if (action.kind !== "look" && action.kind !== "act") continue;
      const trouble = ahead.shift();
      if (trouble === "hangs") queue.push({ kind: "deadline", of: "answer" });
      if (trouble === "late") queue.push({ kind: "deadline", of: "answer" }, answer(action));
      if (trouble === "unavailable") queue.push(failure(action));
      if (trouble === undefined) queue.push(answer(action));
    }
    const next = queue.shift();
    if (next === undefined) return { trace, wrong };
    before = state;
    event = next;
    [state, actions] = step(state, event, policy);
  }
  throw new Error("it does not end");

  function answer(action: Extract<Action, { kind: "look" | "act" }>): Event {
    const { turn } = action;
    if (action.kind === "look") return { kind: "looked", turn, observation: observation() };
    const { container, means } = action.act;
    const sidecar = left.get(container);
    if (sidecar === undefined) return { kind: "acted", turn, result: { kind: "refused", why: "not running" } };
    if (means.kind !== "exec" || means.command[0] !== String(sidecar.heeds)) {
      const isTaken = sidecar.means % 2 === 0;
      return { kind: "acted", turn, result: isTaken ? { kind: "taken" } : { kind: "refused", why: "no" } };
    }
    left.delete(container);
    if (fate === undefined) queue.push({ kind: "changed", observation: observation() });
    return { kind: "acted", turn, result: { kind: "taken" } };
  }
}

function failure(action: Extract<Action, { kind: "look" | "act" }>): Event {
  const { turn } = action;
  if (action.kind === "look") return { kind: "look-failed", turn, why: "503" };
  return { kind: "acted", turn, result: { kind: "unavailable", why: "503" } };
}

function drop(queue: Event[], deadline: string): void {
  const at = queue.findIndex((event) => event.kind === "deadline" && event.of === deadline);
  if (at >= 0) queue.splice(at, 1);
}

function observationOf(left: ReadonlyMap<string, { readonly means: number }>): Verdict {
  const containers = [...left].map(([container, { means }]): Ending => {
    const all = Array.from({ length: means }, (_, at): Means => ({ kind: "exec", container, command: [String(at)] }));
    return { container, sidecar: undefined, means: all, patienceMs: 1000 };
  });
  if (containers.length === 0) return { kind: "leave", rule: "sidecars-ended", reason: "ended" };
  return { kind: "end", rule: "stuck", reason: "stuck", containers };
}

function always(holds: (told: Told, world: World) => void): void {
  fc.assert(
    fc.property(world, (world) => holds(simulate(world), world)),
    { numRuns: 1000 },
  );
}

const all = ({ trace }: Told): readonly Action[] => trace.flatMap(({ actions }) => actions);
const endsOf = (told: Told) => all(told).flatMap((action) => (action.kind === "end" ? [action.outcome] : []));

test("it ends once, and nothing is done afterwards", () => {
  always((told) => {
    expect(endsOf(told)).toHaveLength(1);
    expect(all(told).at(-1)?.kind).toBe("end");
    expect(told.trace.at(-1)?.after.phase).toBe("over");
  });
});

test("each act answers a look at the pod, which was stuck, and acts on what that look showed", () => {
  always(({ trace }) => {
    for (const { event, actions } of trace) {
      for (const action of actions) {
        if (action.kind !== "act") continue;
        if (event?.kind !== "looked" || event.observation.kind !== "end") throw new Error("an act without a look");
        const ending = event.observation.containers[0];
        expect(action.act.container).toBe(ending?.container as string);
        expect(ending?.means).toContain(action.act.means);
      }
    }
  });
});

test("no means is told twice to one sidecar in one round, unless nobody answered", () => {
  always((told, { policy }) => {
    const answered = told.trace.flatMap(({ event, before }) => {
      if (event?.kind !== "acted" || event.result.kind === "unavailable" || before?.phase !== "acting") return [];
      return event.turn === before.turn
        ? [`${before.round} ${before.acted.container} ${JSON.stringify(before.acted.means)}`]
        : [];
    });
    expect(new Set(answered).size).toBe(answered.length);
    for (const each of answered) expect(Number(each.split(" ")[0])).toBeLessThanOrEqual(policy.rounds);
  });
});

test("a sidecar that heeds one of its means is ended, whatever goes wrong on the way", () => {
  always((told, { sidecars, happens, troubles }) => {
    const heed = sidecars.every(({ means, heeds }) => heeds !== undefined && heeds < means);
    // what is not answered may have been heard
    if (!heed || happens !== undefined || troubles.some((each) => each !== "unavailable")) return;
    expect(endsOf(told)).toMatchObject([{ kind: "ended" }]);
  });
});

test("one that heeds none is given up, after all its means in each round, and the report has them all", () => {
  always((told, { sidecars, happens, troubles, policy }) => {
    const [first] = sidecars;
    if (first === undefined || (first.heeds ?? 9) < first.means || happens !== undefined || troubles.length > 0) return;
    expect(endsOf(told)).toMatchObject([
      { kind: "gave-up", tried: Array(first.means * policy.rounds).fill({ container: "s0" }) },
    ]);
  });
});

test("a stop ends it at once, with nothing left under way", () => {
  always(({ trace }) => {
    const at = trace.findIndex(({ event }) => event?.kind === "stop");
    const { before, actions } = trace[at] ?? {};
    if (before === undefined || before.phase === "over") return;
    expect(actions?.at(-1)).toEqual({ kind: "end", outcome: { kind: "stopped" } });
    const isUnderWay = before.phase === "looking" || before.phase === "acting";
    expect(actions?.some(({ kind }) => kind === "abort")).toBe(isUnderWay);
  });
});

test("at each moment one thing is under way, and no deadline outlives its phase", () => {
  const own = { looking: ["answer"], acting: ["answer"], watching: ["patience"], resting: ["rest"], over: [] } as const;
  always(({ trace }) => {
    const armed = new Set<string>();
    for (const { event, actions, after } of trace) {
      if (event?.kind === "deadline") armed.delete(event.of);
      for (const action of actions) {
        if (action.kind === "disarm") expect(armed.delete(action.deadline)).toBe(true);
        if (action.kind === "arm") armed.add(action.deadline);
      }
      expect([...armed]).toEqual([...own[after.phase]]);
    }
  });
});

const observation: fc.Arbitrary<Observation> = fc.constantFrom<Observation>(
  { kind: "gone" },
  { kind: "later", rule: "too-early", reason: "early", at: 5 },
  ...(["sidecars-ended", "being-ended", "app-running", "sidecar-restarts", "over"] as const).map(
    (rule): Observation => ({ kind: "leave", rule, reason: rule }),
  ),
  observationOf(new Map([["s0", { means: 2 }]])),
  observationOf(
    new Map([
      ["s0", { means: 1 }],
      ["s1", { means: 1 }],
    ]),
  ),
);

const turn = fc.nat(12);
const anyEvent: fc.Arbitrary<Event> = fc.oneof(
  fc.record({ kind: fc.constant("looked"), turn, observation }),
  fc.record({ kind: fc.constant("look-failed"), turn, why: fc.constant("x") }),
  fc.record({
    kind: fc.constant("acted"),
    turn,
    result: fc.constantFrom(
      { kind: "taken" } as const,
      { kind: "refused", why: "x" } as const,
      { kind: "unavailable", why: "x" } as const,
    ),
  }),
  fc.record({ kind: fc.constant("changed"), observation }),
  fc.record({ kind: fc.constant("deadline"), of: fc.constantFrom("answer", "patience", "rest") }),
);

test("whatever comes in whatever order: one end at most, a stop always is one, and no state is changed in place", () => {
  fc.assert(
    fc.property(policy, fc.array(anyEvent, { maxLength: 60 }), (policy, events) => {
      let [state] = begin(policy);
      let ends = 0;
      for (const event of [...events, { kind: "stop" } as const]) {
        const copy = structuredClone(state);
        const [next, actions] = step(state, event, policy);
        expect(state).toEqual(copy);
        ends += actions.filter(({ kind }) => kind === "end").length;
        state = next;
      }
      expect([state.phase, ends]).toEqual(["over", 1]);
    }),
    { numRuns: 1000 },
  );
});
