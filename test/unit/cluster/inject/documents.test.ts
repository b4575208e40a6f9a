import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { isEmptyDocument, joinTexts, splitDocuments } from "../../../../src/cluster/inject/documents.ts";

describe("the documents of a text", () => {
  test.each<[string, string, readonly string[]]>([
    ["one", "a: 1\n", ["a: 1\n"]],
    ["with marks", "---\na: 1\n---\nb: 2\n", ["---\na: 1\n", "---\nb: 2\n"]],
    ["with comments at the marks", "# x\n--- # y\na: 1\n", ["# x\n", "--- # y\na: 1\n"]],
    ["with Windows' line breaks", "a: 1\r\n---\r\nb: 2\r\n", ["a: 1\r\n", "---\r\nb: 2\r\n"]],
    ["with marks of an end", "a: 1\n...\n# x\n---\nb: 2\n", ["a: 1\n...\n", "# x\n", "---\nb: 2\n"]],
    ["dashes in a text are none", "a: |\n  ---\n  x---\n----: 1\n", ["a: |\n  ---\n  x---\n----: 1\n"]],
    ["JSON, one after the other", '{"a": "}{"}\n{"b": {}} {"c": 1}', ['{"a": "}{"}\n', '{"b": {}} ', '{"c": 1}']],
    [
      "a byte order mark after a mark, as files bring it along",
      "\ufeffa: 1\n--- # x\r\n\ufeffb: 2\n",
      ["\ufeffa: 1\n", "--- # x\r\n", "\ufeffb: 2\n"],
    ],
    ["a map of YAML in braces is one", "{a: 'x}', b: c}\n", ["{a: 'x}', b: c}\n"]],
  ])("%s", (_, text, pieces) => {
    expect(splitDocuments(text)).toEqual(pieces);
  });

  test("put together again are that text, whatever it is", () => {
    const part = fc.constantFrom(
      "---",
      "...",
      "\n",
      "\r\n",
      " ",
      "# c",
      "a: 1",
      '{"a": "\\"}"}',
      "{",
      "}",
      '"',
      "\ufeff",
    );
    fc.assert(fc.property(fc.array(part), (parts) => splitDocuments(parts.join("")).join("") === parts.join("")));
  });
});

test.each<[boolean, string]>([
  [true, ""],
  [true, "---\n"],
  [true, "\ufeff# x\n\n--- # y\n...\n%YAML 1.2\n"],
  [true, "# x\r\n\r\n"],
  [false, "a: 1\n"],
  [false, "--- a\n"],
  [false, "# x\n- 1\n"],
])("nothing in it: %p: %j", (isEmpty, text) => {
  expect(isEmptyDocument(text)).toBe(isEmpty);
});

test.each<[readonly string[], string]>([
  [["a: 1\n"], "a: 1\n"],
  [["a: 1", "b: 2"], "a: 1\n---\nb: 2"],
  [["a: 1\n", "# x\n---\nb: 2\n"], "a: 1\n# x\n---\nb: 2\n"],
  [["a: 1\n", "", "\ufeffb: 2\n"], "a: 1\n---\nb: 2\n"],
  [["a: 1\n", "%YAML 1.2\n---\nb: 2\n"], "a: 1\n...\n%YAML 1.2\n---\nb: 2\n"],
  [['{"a": 1}', '{"b": 2}\n'], '{"a": 1}\n{"b": 2}\n'],
  [['{"a": 1}', "b: 2\n"], '{"a": 1}\n---\nb: 2\n'],
])("%j are one stream", (texts, joined) => {
  expect(joinTexts(texts)).toBe(joined);
});
