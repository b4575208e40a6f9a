import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  type Candidate,
  type LeasePolicy,
  type LeaseState,
  leadsUntil,
  nextMove,
  observeLease,
  recordWrite,
  resign,
} from "../../../src/core/cluster/leadership.ts";

const policyOf = (identity: string): LeasePolicy => ({ identity, durationMs: 15_000, deadlineMs: 10_000 });
const lease = (holder: string, version: string): LeaseState => ({
  holder,
  durationMs: 15_000,
  transitions: 3,
  version,
});
const a = policyOf("a");

test("where there is no Lease it is made", () => {
  expect(nextMove({}, a, 0)).toEqual({ kind: "create" });
});

test("another's Lease is taken when it has not changed for its whole duration, by one's own clock", () => {
  const first = observeLease({}, lease("b", "1"), 1000);
  expect(nextMove(first, a, 15_999)).toEqual({ kind: "wait", holder: "b" });
  expect(nextMove(observeLease(first, lease("b", "1"), 15_999), a, 16_000)).toEqual({ kind: "take", transitions: 4 });
  expect(nextMove(observeLease(first, lease("b", "2"), 15_999), a, 16_000)).toEqual({ kind: "wait", holder: "b" });
});

test("a Lease that was given back is taken at once", () => {
  expect(nextMove(observeLease({}, lease("", "1"), 0), a, 0)).toEqual({ kind: "take", transitions: 4 });
});

test("one's own is written again, without a new transition", () => {
  expect(nextMove(observeLease({}, lease("a", "1"), 0), a, 0)).toEqual({ kind: "take", transitions: 3 });
});

test("leadership counts from before the write was sent", () => {
  expect(leadsUntil(recordWrite(lease("a", "2"), 500, 4000), a)).toBe(10_500);
  expect(leadsUntil(resign(recordWrite(lease("a", "2"), 500, 4000)), a)).toBeUndefined();
  expect(leadsUntil({}, a)).toBeUndefined();
});

// A world with one Lease and some candidates, whose clocks have nothing to do with each other. Each goes through rounds: it
// reads, then writes, with any time between; a write can be lost, and so can its answer.

interface Round {
  readonly who: number;
  /** Ticks of half a second until the read is answered, the write arrives, its answer arrives; undefined: it never does. */
  readonly read: number;
  readonly write: number | undefined;
  readonly answer: number | undefined;
  /** Ticks until the next round of this candidate begins at the soonest. */
  readonly pause: number;
}

const COUNT = 3;
const TICK_MS = 500;
const sometimes = (max: number) => fc.option(fc.nat(max), { nil: undefined, freq: 6 });
const round = fc.record({
  who: fc.nat(COUNT - 1),
  read: fc.nat(4),
  write: sometimes(8),
  answer: sometimes(8),
  pause: fc.oneof({ weight: 4, arbitrary: fc.nat(6) }, { weight: 1, arbitrary: fc.nat(60) }),
});

function simulate(rounds: readonly Round[], offsets: readonly number[]) {
  const candidates: Candidate[] = offsets.map(() => ({}));
  const clock = (who: number, tick: number): number => tick * TICK_MS + (offsets[who] as number);
  const policies = offsets.map((_, who) => policyOf(String(who)));
  const pending = offsets.map((_, who) => rounds.filter((each) => each.who === who));
  const agenda = new Map<number, (() => void)[]>();
  const at = (tick: number, act: () => void): void => void agenda.set(tick, [...(agenda.get(tick) ?? []), act]);
  let server: LeaseState | undefined;
  let version = 0;
  let most = 0;
  let led = 0;
  const begin = (who: number, tick: number): void => {
    const next = pending[who]?.shift();
    if (next === undefined) return;
    const begunMs = clock(who, tick);
    const policy = policies[who] as LeasePolicy;
    const readAt = tick + next.read;
    at(readAt, () => {
      const read = server;
      const mine = candidates[who] as Candidate;
      candidates[who] =
        read === undefined ? { ...mine, seen: undefined } : observeLease(mine, read, clock(who, readAt));
      const chosen = nextMove(candidates[who] as Candidate, policy, clock(who, readAt));
      if (chosen.kind === "wait") candidates[who] = resign(candidates[who] as Candidate);
      else if (next.write !== undefined) {
        const writeAt = readAt + 1 + next.write;
        at(writeAt, () => {
          if (server?.version !== read?.version) return; // a Conflict
          const result = { ...lease(String(who), String(++version)), transitions: version };
          server = result;
          if (next.answer === undefined) return;
          const answerAt = writeAt + 1 + next.answer;
          at(answerAt, () => {
            candidates[who] = recordWrite(result, begunMs, clock(who, answerAt));
          });
        });
      }
    });
    const length = next.read + (next.write ?? 0) + (next.answer ?? 0) + 3;
    at(tick + length + next.pause, () => begin(who, tick + length + next.pause));
  };
  for (const who of offsets.keys()) at(0, () => begin(who, 0));
  for (let tick = 0; tick < 2000; tick++) {
    for (let due = agenda.get(tick)?.shift(); due !== undefined; due = agenda.get(tick)?.shift()) due();
    const leaders = candidates.filter(
      (candidate, who) =>
        (leadsUntil(candidate, policies[who] as LeasePolicy) ?? Number.NEGATIVE_INFINITY) > clock(who, tick),
    );
    most = Math.max(most, leaders.length);
    led += leaders.length;
  }
  return { most, led };
}

test("never do two lead, whatever the clocks say, however long requests take, whatever is lost", () => {
  let everLed = 0;
  fc.assert(
    fc.property(
      fc.array(round, { minLength: 20, maxLength: 80 }),
      fc.tuple(fc.nat(1e9), fc.nat(1e9), fc.nat(1e9)),
      (rounds, offsets) => {
        const { most, led } = simulate(rounds, offsets);
        everLed += led;
        expect(most).toBeLessThanOrEqual(1);
      },
    ),
    { numRuns: 300 },
  );
  expect(everLed).toBeGreaterThan(1000);
});
