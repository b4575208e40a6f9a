import { expect, test } from "bun:test";
import { backoffMs } from "../../../../src/cluster/core/backoff.ts";

const rest = { firstMs: 1000, longestMs: 60_000 };

test.each<[number, number, number]>([
  [0, 1, 1000],
  [0, 0, 500],
  [1, 1, 2000],
  [3, 0.5, 6000],
  [6, 1, 60_000],
  [10_000, 1, 60_000],
  [10_000, 0, 30_000],
])("a rest after %d failures, with chance %d, is %d ms", (failures, chance, ms) => {
  expect(backoffMs(failures, rest, chance)).toBe(ms);
});
