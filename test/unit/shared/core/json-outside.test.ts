import { expect, test } from "bun:test";
import fc from "fast-check";
import { hasMoreOutsideStrings } from "../../../../src/shared/core/json.ts";

test.each<[string, number]>([
  ["[1,2]", 5],
  ['{"a":"b"}', 5],
  ['"[[[["', 1],
  ['["\\"[[","\\\\",[]]', 8],
  ['"no end [[[', 1],
  ['["\\', 2],
])("%j has %d characters outside its strings, a string being one", (text, count) => {
  expect([hasMoreOutsideStrings(text, count - 1), hasMoreOutsideStrings(text, count)]).toEqual([true, false]);
});

test("any JSON has as many characters outside its strings as with empty strings", () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      const count = text.replaceAll(/"(?:[^"\\]|\\.)*"/g, "s").length;
      expect([hasMoreOutsideStrings(text, count - 1), hasMoreOutsideStrings(text, count)]).toEqual([true, false]);
    }),
  );
});

test.each(['\\"', "\\\\", '\\\\\\"', '\\\\","[', "é"])(
  "long texts are counted in pieces, wherever there is %j",
  (unit) => {
    for (let shift = 0; shift < 6; shift += 1) {
      const text = `["${"a".repeat(65_528 + shift)}${unit.repeat(30_000)}[[",[]]`;
      const count = text.replaceAll(/"(?:[^"\\]|\\.)*"/g, "s").length;
      expect([hasMoreOutsideStrings(text, count - 1), hasMoreOutsideStrings(text, count)]).toEqual([true, false]);
    }
  },
);
