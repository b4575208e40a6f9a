import { expect, test } from "bun:test";
import { lookUpPeriodMs } from "../../../../../src/shared/http/core/look-up-period.ts";

test.each([
  [0, 250],
  [4999, 250],
  [5000, 1000],
  [59_999, 1000],
  [60_000, 5000],
  [86_400_000, 5000],
])("after %d ms of waiting a name is looked up each %d ms, a fifth more or less", (waitedMs, periodMs) => {
  expect(lookUpPeriodMs(waitedMs, 0)).toBeCloseTo(periodMs * 0.8);
  expect(lookUpPeriodMs(waitedMs, 0.5)).toBeCloseTo(periodMs);
  expect(lookUpPeriodMs(waitedMs, 1)).toBeCloseTo(periodMs * 1.2);
});
