import { expect, test } from "bun:test";
import fc from "fast-check";
import { type Bucket, fullBucket, type Rate, take } from "../../../../src/cluster/core/rate-limit.ts";

const rate: Rate = { perSecond: 10, burst: 3 };

/** How long each has to wait that comes at these times. */
function waits(times: readonly number[], rate: Rate, start = 0): readonly number[] {
  let bucket = fullBucket(rate, start);
  return times.map((now) => {
    const [next, waitMs] = take(bucket, rate, now);
    bucket = next;
    return waitMs;
  });
}

test.each<[string, readonly number[], readonly number[]]>([
  ["a burst passes at once, the others one after the other", [0, 0, 0, 0, 0], [0, 0, 0, 100, 200]],
  ["those that come slowly never wait", [0, 100, 200, 300, 400], [0, 0, 0, 0, 0]],
  ["who waits has been counted: the next one waits behind it", [0, 0, 0, 0, 50], [0, 0, 0, 100, 150]],
  ["a long pause fills up to a burst, and no more", [0, 0, 0, 10_000, 10_000, 10_000, 10_000], [0, 0, 0, 0, 0, 0, 100]],
  ["a clock that goes back fills nothing", [1000, 1000, 1000, 0, 0], [0, 0, 0, 100, 200]],
])("%s", (_, times, expected) => {
  expect(waits(times, rate)).toEqual([...expected]);
});

const rates = fc.record({ perSecond: fc.constantFrom(0.5, 1, 10, 1000), burst: fc.integer({ min: 1, max: 20 }) });
const gaps = fc.array(fc.constantFrom(0, 1, 7, 100, 5000), { minLength: 1, maxLength: 60 });

test("no more requests pass in any stretch of time than a burst and what the rate allows, and they pass in their order", () => {
  fc.assert(
    fc.property(rates, gaps, (rate, gaps) => {
      let now = 0;
      const times = gaps.map((gap) => (now += gap));
      const passed = waits(times, rate).map((wait, at) => (times[at] as number) + wait);
      for (const [from, start] of passed.entries()) {
        for (const [to, end] of passed.entries()) {
          if (to < from) continue;
          const allowed = rate.burst + ((end - start) * rate.perSecond) / 1000;
          expect(to - from + 1).toBeLessThanOrEqual(allowed + 1e-6);
          expect(end).toBeGreaterThanOrEqual(start - 1e-6);
        }
      }
    }),
  );
});

test("no request waits longer than those before it need", () => {
  fc.assert(
    fc.property(rates, gaps, (rate, gaps) => {
      let now = 0;
      let bucket: Bucket = fullBucket(rate, 0);
      for (const [at, gap] of gaps.entries()) {
        now += gap;
        const [next, waitMs] = take(bucket, rate, now);
        bucket = next;
        expect(waitMs).toBeGreaterThanOrEqual(0);
        expect(waitMs).toBeLessThanOrEqual((Math.max(0, at + 1 - rate.burst) * 1000) / rate.perSecond + 1e-6);
      }
    }),
  );
});
