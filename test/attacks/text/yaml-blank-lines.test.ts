import { expect, test } from "bun:test";
import { readDocument } from "../../../src/cluster/inject/yaml/document.ts";
import { editsTo } from "../../../src/cluster/inject/yaml/edit.ts";
import { applySplices } from "../../../src/cluster/inject/yaml/splice.ts";

const script = "set -e\n  echo one two three four five six seven eight\nexec app\n";

function isBlank(line: string): boolean {
  return line.trim() === "";
}

test.each<[string, string, unknown]>([
  ["in braces", "a: {b: 1}\n", { a: { b: 1, c: script } }],
  ["in brackets", "a: [x]\n", { a: ["x", script] }],
  ["in brackets, with quotes", "a: [x]\n", { a: ["x", `${script}echo "x"\n`] }],
  ["in lines, where no block can hold it", "a:\n  - x\n", { a: ["x", `${script} `] }],
  ["in lines, where no block can hold it, with quotes", "a:\n  - x\n", { a: ["x", `${script}echo "x"\n `] }],
  ["in lines", "a:\n  - x\n", { a: ["x", script] }],
  ["in the place of another", "a: x\n", { a: script }],
])("a text of several lines brings no blank line with it: %s", (_, before, after) => {
  const text = applySplices(before, editsTo(readDocument(before), after));
  expect(text.split("\n").slice(0, -1).filter(isBlank)).toEqual([]);
  expect(readDocument(text).value).toEqual(after);
});
