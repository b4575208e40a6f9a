import { expect, test } from "bun:test";
import fc from "fast-check";
import { capped, oneLine, printable } from "../../../../src/shared/core/text.ts";

test.each([
  ["plain text: äöü 日本語 👍🏽", "plain text: äöü 日本語 👍🏽"],
  ["\x1b[31mred", "\\u001b[31mred"],
  ["a\x07\x08\x7f\x9b31m", "a\\u0007\\u0008\\u007f\\u009b31m"],
  ["over\rwritten", "over\\rwritten"],
  ["a\u202eb\u2066c\u200fd", "a\\u202eb\\u2066c\\u200fd"],
  ["a\u200bb\ufeffc\u2028d\u00ade", "a\\u200bb\\ufeffc\\u2028d\\u00ade"],
  ["a\u{e0041}b", "a\\udb40\\udc41b"],
])("%j is shown as %j", (text, shown) => {
  expect(printable(text)).toBe(shown);
  expect(oneLine(text)).toBe(shown);
});

test("lines and tabs stay, but where one line is meant", () => {
  expect(printable("a\n\tb\r\nc")).toBe("a\n\tb\r\nc");
  expect(oneLine("a\n\tb\r\nc")).toBe("a\\n\\tb\\r\\nc");
});

const hostile = fc.string({ unit: "binary" });

test("a shown text keeps nothing that a terminal acts on, and all else", () => {
  fc.assert(
    fc.property(hostile, (text) => {
      const shown = oneLine(text);
      expect(shown).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/u);
      expect(oneLine(shown)).toBe(shown);
      if (/^[\x20-\x7e]*$/.test(text)) expect(shown).toBe(text);
    }),
  );
});

test("JSON means the same before and after", () => {
  fc.assert(
    fc.property(fc.array(hostile), (texts) => {
      expect(JSON.parse(printable(JSON.stringify(texts, null, 2)))).toEqual(texts);
    }),
  );
});

test.each<[unknown, unknown]>([
  ["short", "short"],
  [undefined, undefined],
  [null, null],
  [12_345_678_901, 12_345_678_901],
  [{ a: 1 }, { a: 1 }],
  [{ a: "1234567890" }, '{"a":"1234… (8 more characters)'],
  ["12345678901", "1234567890… (1 more characters)"],
  [
    ["a", "b"],
    ["a", "b"],
  ],
  [
    ["1234", "1234", "a", "b"],
    ["1234", "1234", "… (2 more)"],
  ],
  [
    ["12345678901", "b"],
    ["1234567890… (1 more characters)", "… (1 more)"],
  ],
  [["12345678901"], ["1234567890… (1 more characters)"]],
  [Array(20).fill(""), [...Array(10).fill(""), "… (10 more)"]],
  [
    [{ a: 1 }, { a: 2 }],
    [{ a: 1 }, "… (1 more)"],
  ],
])("%j, of at most 10 characters, is %j", (value, shown) => {
  expect(capped(value, 10)).toEqual(shown);
});

test("a value of any length is some 4,000 characters", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.nat(5000), (value, times) => {
      for (const long of [
        JSON.stringify(value).repeat(times),
        Array(times).fill(value),
        { value: Array(times).fill(value) },
      ])
        expect(JSON.stringify(capped(long)).length).toBeLessThan(30_000);
    }),
    { numRuns: 20 },
  );
});
