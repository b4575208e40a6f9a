import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  type Answer,
  afterAnswer,
  afterFailedRead,
  type EndRequest,
  firstAttempt,
  type Next,
  nextStep,
  type Observation,
  type Outcome,
} from "../../../../../../src/cluster/reaper/core/attempt.ts";
import type { Ending, Method } from "../../../../../../src/cluster/reaper/core/methods.ts";

/** The behaviour of the world around an attempt: what each method does, and what else happens at which step. */
interface World {
  readonly rounds: number;
  readonly chance: number;
  /** For each sidecar the number of its methods, and the index of the method that ends it; undefined if none does. */
  readonly sidecars: readonly { readonly methods: number; readonly heeds: number | undefined }[];
  /** What happens to the first requests, in order; all others go well. `late`: it is done, its answer is lost. */
  readonly troubles: readonly ("unavailable" | "hangs" | "late")[];
  /** What happens to the pod, and at which step; undefined if nothing does. */
  readonly happens: { readonly at: number; readonly what: "replaced" | "opts-out" | "ends" } | undefined;
}

const world: fc.Arbitrary<World> = fc.record({
  rounds: fc.integer({ min: 1, max: 3 }),
  chance: fc.double({ min: 0, max: 1, noNaN: true }),
  sidecars: fc.array(
    fc.record({ methods: fc.integer({ min: 1, max: 3 }), heeds: fc.option(fc.nat(2), { nil: undefined }) }),
    { minLength: 1, maxLength: 3 },
  ),
  troubles: fc.array(fc.constantFrom("unavailable", "hangs", "late"), { maxLength: 6 }),
  happens: fc.option(fc.record({ at: fc.nat(12), what: fc.constantFrom("replaced", "opts-out", "ends") }), {
    nil: undefined,
  }),
});

interface Told {
  readonly outcome: Outcome;
  /** Each request with the round in which it was sent and its answer. */
  readonly asked: readonly { readonly request: EndRequest; readonly round: number; readonly answer: Answer }[];
}

/** Reconciles in a world, as soon as each step allows, to the outcome. @throws Error after 500 steps */
function simulate({ rounds, chance, sidecars, troubles, happens }: World): Told {
  const left = new Map(sidecars.map((each, at) => [`s${at}`, each]));
  const ahead = [...troubles];
  const asked: Told["asked"][number][] = [];
  let attempt = firstAttempt;
  let now = 0;
  let fate: Observation | undefined;
  for (let at = 0; at < 500; at += 1) {
    if (happens?.at === at) {
      if (happens.what === "replaced") fate = { kind: "gone" };
      if (happens.what === "opts-out") fate = { kind: "leave", rule: "opted-out", reason: "no" };
      if (happens.what === "ends") left.clear();
    }
    const clock = { rounds, pause: { firstMs: 1000, longestMs: 60_000 }, now, chance };
    const before = structuredClone(attempt);
    let next: Next;
    const trouble = ahead.shift();
    if (trouble === "unavailable") next = afterFailedRead(attempt, clock, { why: "503" });
    else next = nextStep(attempt, fate ?? seen(left), clock);
    expect(attempt).toEqual(before);
    if (next.kind === "ask") {
      const { request } = next;
      const answer = answerTo(request, left, ahead.shift());
      asked.push({ request, round: next.attempt.round, answer });
      next = afterAnswer(next.attempt, request, answer, clock);
    }
    if (next.kind === "over") return { outcome: next.outcome, asked };
    if (next.kind === "ask") throw new Error("a request after a request");
    expect(next.untilMs).toBeGreaterThanOrEqual(now);
    now = next.untilMs;
    attempt = next.attempt;
  }
  throw new Error("it does not end");
}

function seen(left: ReadonlyMap<string, { readonly methods: number }>): Observation {
  const containers = [...left].map(([container, { methods }]): Ending => {
    const numbers = Array.from({ length: methods }, (_, at) => String(at));
    const all = numbers.map((command): Method => ({ kind: "exec", container, command: [command] }));
    return { container, methods: all, patienceMs: 1000 };
  });
  if (containers.length === 0) return { kind: "leave", rule: "sidecars-ended", reason: "ended" };
  return { kind: "end", rule: "stuck", reason: "stuck", containers };
}

function answerTo(
  request: EndRequest,
  left: Map<string, World["sidecars"][number]>,
  trouble: World["troubles"][number] | undefined,
): Answer {
  if (trouble === "unavailable") return { kind: "unavailable", why: "503" };
  const sidecar = left.get(request.container);
  const isHeeded = request.method.kind === "exec" && request.method.command[0] === String(sidecar?.heeds);
  if (trouble !== "hangs" && isHeeded) left.delete(request.container);
  if (trouble !== undefined) return { kind: "unanswered", why: "no answer" };
  return isHeeded || (sidecar?.methods ?? 0) % 2 === 0 ? { kind: "taken" } : { kind: "refused", why: "no" };
}

function always(holds: (told: Told, world: World) => void): void {
  fc.assert(
    fc.property(world, (world) => holds(simulate(world), world)),
    { numRuns: 1000 },
  );
}

test("an attempt ends, and asks no sidecar twice by one method in one round, unless nobody answered", () => {
  always(({ asked }, { rounds }) => {
    const answered = asked.filter(({ answer }) => answer.kind !== "unavailable");
    const keys = answered.map(
      ({ request, round }) => `${round} ${request.container} ${JSON.stringify(request.method)}`,
    );
    expect(new Set(keys).size).toBe(keys.length);
    for (const { round } of asked) expect(round).toBeLessThanOrEqual(rounds);
  });
});

test("a sidecar that heeds one of its methods is ended, whatever goes wrong on the way", () => {
  always(({ outcome }, { sidecars, happens, troubles }) => {
    const heed = sidecars.every(({ methods, heeds }) => heeds !== undefined && heeds < methods);
    // what is not answered may have been heard
    if (!heed || happens !== undefined || troubles.includes("hangs")) return;
    expect(outcome.kind).toBe("ended");
  });
});

test("a sidecar that heeds no method is given up, after all its methods in each round, and the report has them all", () => {
  always(({ outcome }, { sidecars, happens, troubles, rounds }) => {
    const [first] = sidecars;
    if (first === undefined || (first.heeds ?? 9) < first.methods || happens !== undefined || troubles.length > 0)
      return;
    expect(outcome).toMatchObject({
      kind: "gave-up",
      tried: Array(first.methods * rounds).fill({ container: "s0" }),
    });
  });
});
