import { expect, test } from "bun:test";
import fc from "fast-check";
import { oneLine, printable } from "../../../src/core/base/text.ts";

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

test("nothing is left that a terminal acts on, and nothing else is changed", () => {
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
