import { expect, test } from "bun:test";
import { readDocument } from "../../../../src/cluster/inject/yaml/document.ts";
import { plainValue } from "../../../../src/cluster/inject/yaml/scalars.ts";

// What sigs.k8s.io/yaml 1.6.0 made of each of them.

test.each<[string, unknown]>([
  ...["yes", "y", "On", "TRUE"].map((word): [string, unknown] => [word, true]),
  ...["no", "n", "Off", "False"].map((word): [string, unknown] => [word, false]),
  ...["", "~", "null", "NULL"].map((word): [string, unknown] => [word, null]),
  ["0644", 420],
  ["0o644", 420],
  ["0O7", 7],
  ["08", 8],
  ["1_000", 1000],
  ["1__0", 10],
  ["0x1F", 31],
  ["-0x10", -16],
  ["0b11", 3],
  ["-0b11", -3],
  ["0b2", "0b2"],
  ["0b", "0b"],
  ["0o", "0o"],
  ["+1", 1],
  ["-0", 0],
  [".5", 0.5],
  ["-.5", -0.5],
  ["1.", 1],
  ["1e3", 1000],
  ["1_0.5", 10.5],
  [".5_5", 0.55],
  ["1e400", "1e400"],
  ["99999999999999999999999", 1e23],
  ["12:30", "12:30"],
  ["2020-01-01", "2020-01-01"],
  ["0x1p-2", "0x1p-2"],
  ["_1", "_1"],
  ["._1", "._1"],
  [".e3", ".e3"],
  ["yEs", "yEs"],
  ["-", "-"],
  ["1.2.3", "1.2.3"],
  [".inf", Number.POSITIVE_INFINITY],
  ["-.Inf", Number.NEGATIVE_INFINITY],
  [".nan", Number.NaN],
])("%s is %p", (text, value) => {
  expect(plainValue(text)).toBe(value as never);
});

test.each<[string, unknown]>([
  ["a: \"yes\"\nb: '1'\n", { a: "yes", b: "1" }],
  ["a: !!str 1\nb: ! 12\nc: !foo 1\nd: !!str\n", { a: "1", b: "12", c: "1", d: "" }],
  ['a: !!int "3"\nb: !!float 1\nc: !!bool yes\nd: !!null ""\n', { a: 3, b: 1, c: true, d: null }],
  ["a: !!binary aGk=\nb: !!timestamp 2020-01-01\n", { a: "hi", b: "2020-01-01" }],
  ["on: 1\n1: a\nn: b\n", { true: 1, 1: "a", false: "b" }],
  ["a: 1\na: 2\n", { a: 2 }],
  ["a: 1\n<<: {a: 2, b: 3}\n", { a: 2, b: 3 }],
  ["<<: [{a: 1}, {a: 2, b: 3}]\n", { a: 1, b: 3 }],
  ["a: |\n  foo", { a: "foo\n" }],
  ["a: >+\n  foo", { a: "foo\n" }],
  ['a:\n  b: [sh, \'\n    x\n   \', "\n   y\\"\n   "]\n', { a: { b: ["sh", " x ", ' y" '] } }],
  ["a:\n  b: [\n    1,\n   2\n  ]\n  c: {\n   x: 1\n  }\n", { a: { b: [1, 2], c: { x: 1 } } }],
  ["a: |+\n  x\n\n", { a: "x\n\n" }],
])("%j is %j", (text, value) => {
  expect(readDocument(text).value).toEqual(value as never);
});

test("__proto__ is a name like any other", () => {
  expect(Object.keys(readDocument("__proto__: {a: 1}\n").value as object)).toEqual(["__proto__"]);
});

const bomb = ["a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1]"];
for (let at = 1; at < 9; at += 1)
  bomb.push(
    `a${at}: &a${at} [${Array(9)
      .fill(`*a${at - 1}`)
      .join(", ")}]`,
  );

test.each<[string, string, RegExp]>([
  ["a tag that does not fit", "a: !!int x\n", /cannot decode "x" as !!int/],
  ["an alias of nobody", "a: *x\n", /\*x/],
  ["an alias inside its anchor", "a: &x\n  b: *x\n", /\*x is inside &x/],
  ["a bomb of aliases", bomb.join("\n"), /more than 400000 values/],
  ["a key that is a list", "? [a]\n: b\n", /a key must be a text/],
  ["a merge of no map", "<<: 1\n", /<< takes a map/],
  ["brackets without end", "a: [1\n", /./],
  ["nesting without end", "[".repeat(20_000), /./],
])("%s is refused", (_, text, message) => {
  expect(() => readDocument(text)).toThrow(message);
});
