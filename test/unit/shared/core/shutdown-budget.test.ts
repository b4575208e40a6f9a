import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { fitMinimum, graceAfter, planShutdown, splitDrain } from "../../../../src/shared/core/shutdown-budget.ts";

describe("drain and grace", () => {
  // the grace after a drain that takes all of its time
  test.each<[string, number, number | undefined, number | undefined, number, number | undefined]>([
    ["without a pod's grace are as they are wished", 60_000, 20_000, undefined, 60_000, 20_000],
    ["without a grace there is none", 60_000, undefined, undefined, 60_000, undefined],
    ["that fit the pod's grace are as they are wished", 10_000, 15_000, 30_000, 10_000, 15_000],
    ["draining leaves the app its grace", 60_000, 10_000, 30_000, 19_000, 10_000],
    ["draining leaves the app 5 s where it has no grace", 60_000, undefined, 30_000, 24_000, undefined],
    ["draining leaves no more than half", 60_000, 60_000, 31_000, 15_000, 15_000],
    ["a grace has what draining leaves", 2000, 60_000, 31_000, 2000, 28_000],
    ["without draining the grace has it all", 0, 60_000, 30_000, 0, 29_000],
    ["a pod's grace of a second has no time at all", 60_000, 5000, 1000, 0, 0],
    ["nor has a shorter one", 60_000, 5000, 10, 0, 0],
  ])("%s", (_, drain, grace, podGrace, drainMs, graceMs) => {
    const plan = planShutdown({ drain, grace, podGrace });
    const after = plan.graceMs === undefined ? undefined : graceAfter(plan.drainMs, plan);
    expect({ drainMs: plan.drainMs, after }).toEqual({ drainMs, after: graceMs });
  });

  test.each([
    ["gives the app the rest", 20_000, 1000, 18_000, 18_000],
    ["gives the app the rest, up to its grace", 20_000, 1000, 12_000, 12_000],
    ["by a while", 20_000, 6000, 18_000, 13_000],
    ["not at all", 20_000, 9500, 18_000, 9500],
    ["and took longer than it may", 20_000, 25_000, 18_000, 0],
    ["without a pod's grace", undefined, 1000, 18_000, 18_000],
  ])("a drain that ends early: %s", (_, podGrace, tookMs, grace, graceMs) => {
    expect(graceAfter(tookMs, planShutdown({ drain: 10_000, grace, podGrace }))).toBe(graceMs);
  });

  const ms = fc.oneof(fc.nat(120_000), fc.constantFrom(0, 1, 999, 1000, 1001, 30_000));
  const wishes = fc.record({
    drain: ms,
    grace: fc.option(ms, { nil: undefined }),
    podGrace: fc.option(ms, { nil: undefined }),
  });

  test("are never longer than wished, never negative, and what is unset stays unset", () => {
    fc.assert(
      fc.property(wishes, (wishes) => {
        const { drainMs, graceMs } = planShutdown(wishes);
        expect(drainMs).toBeGreaterThanOrEqual(0);
        expect(drainMs).toBeLessThanOrEqual(wishes.drain);
        if (wishes.grace === undefined) return expect(graceMs).toBeUndefined();
        expect(graceMs).toBeGreaterThanOrEqual(0);
        expect(graceMs).toBeLessThanOrEqual(wishes.grace);
      }),
    );
  });

  test("together leave a second of the pod's grace, and the app has its share of it", () => {
    fc.assert(
      fc.property(wishes, (wishes) => {
        if (wishes.podGrace === undefined) return;
        const plan = planShutdown(wishes);
        const { drainMs } = plan;
        const all = Math.max(0, wishes.podGrace - 1000);
        expect(all - drainMs).toBeGreaterThanOrEqual(Math.min(wishes.grace ?? 5000, all / 2));
        for (const elapsedMs of [0, drainMs / 2, drainMs, drainMs + 1000]) {
          const graceMs = graceAfter(elapsedMs, plan);
          expect(graceMs).toBe(Math.max(0, Math.min(wishes.grace ?? 0, all - elapsedMs)));
        }
      }),
    );
  });
});

test.each([
  [60_000, 59_000, 1000],
  [10_000, 9000, 1000],
  [5000, 4500, 500],
  [0, 0, 0],
])("of %d ms, %d are for draining and %d for the quit", (wholeMs, drainMs, quitMs) => {
  expect(splitDrain(wholeMs)).toEqual({ drainMs, quitMs });
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
