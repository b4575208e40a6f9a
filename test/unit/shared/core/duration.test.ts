import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { formatDuration, parseDuration, toTenths } from "../../../../src/shared/core/duration.ts";

const unitsMs = { ns: 1e-6, us: 1e-3, µs: 1e-3, μs: 1e-3, ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

describe("a duration is read as Go writes it, or as a bare number of seconds", () => {
  test.each([
    ["0", 0],
    ["0s", 0],
    ["5", 5000],
    ["1.5", 1500],
    [".5", 500],
    ["5.", 5000],
    ["500ms", 500],
    ["1m30s", 90_000],
    ["1h2m3s4ms", 3_723_004],
    ["1.5h", 5_400_000],
    [".5s", 500],
    ["2.s", 2000],
    ["1500us", 1.5],
    ["1500µs", 1.5],
    ["1500μs", 1.5],
    ["2000000ns", 2],
    ["1d", 86_400_000],
    ["1d12h", 129_600_000],
    ["30s1m", 90_000],
  ])("%s", (text, ms) => {
    expect(parseDuration(text)).toBeCloseTo(ms, 9);
  });
});

test.each([
  "",
  " ",
  "5 s",
  " 5s",
  "5s ",
  "5s\n",
  "5\n",
  ..."s ms . .s -1s -1 5x 5S 5sec 1m30 1:30 1e3 0x10 1.2.3s 1,5s Infinity NaN soon".split(" "),
])("%p is not a duration", (text) => {
  expect(parseDuration(text)).toBeUndefined();
});

describe("a duration is written for people", () => {
  test.each([
    [0, "0ms"],
    [0.4, "0ms"],
    [350.4, "350ms"],
    [999, "999ms"],
    [1000, "1s"],
    [2149, "2.1s"],
    [59_900, "59.9s"],
    [59_940, "59.9s"],
    [60_000, "1m"],
    [90_000, "1m30s"],
    [89_600, "1m30s"],
    [300_000, "5m"],
    [3_599_600, "1h"],
    [3_600_000, "1h"],
    [3_601_000, "1h1s"],
    [7_500_000, "2h5m"],
    [90_061_000, "25h1m1s"],
  ])("%d ms", (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });

  test.each([
    [999.6, "1s"],
    [59_960, "1m"],
  ])("%d ms, which round up to the next unit", (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });
});

test("any sum of numbers with units is their sum", () => {
  const unit = fc.constantFrom(...(Object.keys(unitsMs) as (keyof typeof unitsMs)[]));
  const part = fc.record({ amount: fc.nat(9999), fraction: fc.constantFrom("", ".", ".25", ".5"), unit });
  const parts = fc.array(part, { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(parts, (parts) => {
      const text = parts.map(({ amount, fraction, unit }) => `${amount}${fraction}${unit}`).join("");
      const ms = parts.map(({ amount, fraction, unit }) => Number(`${amount}${fraction}`) * unitsMs[unit]);
      expect(parseDuration(text)).toBeCloseTo(
        ms.reduce((total, each) => total + each),
        3,
      );
    }),
  );
});

test("a duration that is written for people is read back as the same time, but for the rounding", () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 1e10, noNaN: true }), (ms) => {
      const rounding = ms < 1000 ? 0.5 : ms < 60_000 ? 50 : 500;
      const back = parseDuration(formatDuration(ms));
      expect(Math.abs((back ?? Number.NaN) - ms)).toBeLessThanOrEqual(rounding + 1e-3);
    }),
  );
});

test("no text at all gives a negative time or one that is no number", () => {
  const text = fc.oneof(fc.string(), fc.stringMatching(/^[-+.0-9a-zµ ]{0,12}$/));
  fc.assert(
    fc.property(text, (text) => {
      expect(parseDuration(text) ?? 0).toBeGreaterThanOrEqual(0);
    }),
  );
});

test.each([
  [0, 0],
  [1.04, 1],
  [1.05, 1.1],
  [1234.56, 1234.6],
])("%d ms to a tenth is %d", (ms, tenths) => {
  expect(toTenths(ms)).toBe(tenths);
});
