import fc from "fast-check";
import { beginAttempt, stepAttempt } from "../../../../src/core/reap/attempt.ts";
import type { Action, AttemptPolicy, Event, Observation, State } from "../../../../src/core/reap/attempt-steps.ts";
import type { Ending, Method } from "../../../../src/core/reap/methods.ts";
import type { Verdict } from "../../../../src/core/reap/verdict.ts";

export const policy: fc.Arbitrary<AttemptPolicy> = fc.record({
  rounds: fc.integer({ min: 1, max: 3 }),
  answerMs: fc.constant(30_000),
  rest: fc.constant({ firstMs: 1000, longestMs: 60_000 }),
  chance: fc.double({ min: 0, max: 1, noNaN: true }),
});

/** The behaviour of the world around an attempt: what each method does, and what else happens at which step. */
export interface World {
  readonly policy: AttemptPolicy;
  /** For each sidecar the number of its methods, and the index of the method that ends it; undefined if none does. */
  readonly sidecars: readonly { readonly methods: number; readonly heeds: number | undefined }[];
  /** What happens to the first requests, in order; all others go well. */
  readonly troubles: readonly ("unavailable" | "hangs" | "late")[];
  /** What happens to the reaper or the pod, and at which step; undefined if nothing does. */
  readonly happens: { readonly at: number; readonly what: "stop" | "replaced" | "opts-out" | "ends" } | undefined;
}

/** Generates worlds. */
export const world: fc.Arbitrary<World> = fc.record({
  policy,
  sidecars: fc.array(
    fc.record({ methods: fc.integer({ min: 1, max: 3 }), heeds: fc.option(fc.nat(2), { nil: undefined }) }),
    { minLength: 1, maxLength: 3 },
  ),
  troubles: fc.array(fc.constantFrom("unavailable", "hangs", "late"), { maxLength: 6 }),
  happens: fc.option(fc.record({ at: fc.nat(12), what: fc.constantFrom("stop", "replaced", "opts-out", "ends") }), {
    nil: undefined,
  }),
});

/** A step of an attempt: the event, and the actions in answer to it. The first entry has no event. */
export interface Entry {
  readonly event: Event | undefined;
  readonly before: State | undefined;
  readonly after: State;
  readonly actions: readonly Action[];
}

export interface Told {
  readonly trace: readonly Entry[];
  /** For acts on a pod that was not to be reaped at that time; nothing fills it. */
  readonly wrong: readonly string[];
}

/**
 * Runs an attempt in a world, to its end and until no event is left. @throws Error if it has not ended after 500 steps
 */
export function simulate({ policy, sidecars, troubles, happens }: World): Told {
  const left = new Map(sidecars.map((each, at) => [`s${at}`, each]));
  const wrong: string[] = [];
  const trace: Entry[] = [];
  const queue: Event[] = [];
  const ahead = [...troubles];
  let fate: Observation | undefined;
  const observation = (): Observation => fate ?? observationOf(left);
  let [state, actions] = beginAttempt(policy);
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
    [state, actions] = stepAttempt(state, event, policy);
  }
  throw new Error("it does not end");

  function answer(action: Extract<Action, { kind: "look" | "act" }>): Event {
    const { turn } = action;
    if (action.kind === "look") return { kind: "looked", turn, observation: observation() };
    const { container, method } = action.act;
    const sidecar = left.get(container);
    if (sidecar === undefined) return { kind: "acted", turn, result: { kind: "refused", why: "not running" } };
    if (method.kind !== "exec" || method.command[0] !== String(sidecar.heeds)) {
      const isTaken = sidecar.methods % 2 === 0;
      return { kind: "acted", turn, result: isTaken ? { kind: "taken" } : { kind: "refused", why: "no" } };
    }
    left.delete(container);
    if (fate === undefined) queue.push({ kind: "changed", observation: observation() });
    return { kind: "acted", turn, result: { kind: "taken" } };
  }
}

/** Returns the event that a request, a look or an act, was not answered: 503. */
export function failure(action: Extract<Action, { kind: "look" | "act" }>): Event {
  const { turn } = action;
  if (action.kind === "look") return { kind: "look-failed", turn, why: "503" };
  return { kind: "acted", turn, result: { kind: "unavailable", why: "503" } };
}

/** Removes a deadline's event from the queue. */
export function drop(queue: Event[], deadline: string): void {
  const at = queue.findIndex((event) => event.kind === "deadline" && event.of === deadline);
  if (at >= 0) queue.splice(at, 1);
}

/**
 * Returns what is observed of a pod with these sidecars left: to end them, or to leave the pod alone if there are none.
 */
export function observationOf(left: ReadonlyMap<string, { readonly methods: number }>): Verdict {
  const containers = [...left].map(([container, { methods }]): Ending => {
    const all = Array.from(
      { length: methods },
      (_, at): Method => ({ kind: "exec", container, command: [String(at)] }),
    );
    return { container, sidecar: undefined, methods: all, patienceMs: 1000 };
  });
  if (containers.length === 0) return { kind: "leave", rule: "sidecars-ended", reason: "ended" };
  return { kind: "end", rule: "stuck", reason: "stuck", containers };
}

/** Checks a property of attempts in 1,000 worlds: `holds` throws if it does not hold. */
export function always(holds: (told: Told, world: World) => void): void {
  fc.assert(
    fc.property(world, (world) => holds(simulate(world), world)),
    { numRuns: 1000 },
  );
}

/** Returns all actions of an attempt, in order. */
export const all = ({ trace }: Told): readonly Action[] => trace.flatMap(({ actions }) => actions);

export const observation: fc.Arbitrary<Observation> = fc.constantFrom<Observation>(
  { kind: "gone" },
  { kind: "later", rule: "too-early", reason: "early", at: 5 },
  ...(["sidecars-ended", "being-ended", "app-running", "sidecar-restarts", "over"] as const).map(
    (rule): Observation => ({ kind: "leave", rule, reason: rule }),
  ),
  observationOf(new Map([["s0", { methods: 2 }]])),
  observationOf(
    new Map([
      ["s0", { methods: 1 }],
      ["s1", { methods: 1 }],
    ]),
  ),
);

export const turn = fc.nat(12);
