import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { renderMarkdown, titleOf } from "../../../src/core/cli/markdown.ts";

const plain = { width: 40, isStyled: false };

test.each<[string, string, string]>([
  ["a heading", "# Title", "Title\n"],
  [
    "a paragraph is wrapped",
    "one two three four five six seven eight nine",
    "one two three four five six seven eight\nnine\n",
  ],
  ["marks of code and of what is bold go", "**say** `ebb run` now", "say ebb run now\n"],
  ["a link is its text, and its page", "see [the drain](drain.md#why)", "see the drain (ebb help drain)\n"],
  ["a link that says its page", "see [drain](drain.md)", "see drain\n"],
  ["a link elsewhere is its text", "see [it](https://a.example)", "see it\n"],
  [
    "code stays as it is",
    "    ebb run -- /app --with many words that are long\n",
    "    ebb run -- /app --with many words that are long\n",
  ],
  ["fenced code", "```yaml\na:\n  - b\n```", "    a:\n      - b\n"],
  [
    "a list",
    "- one two three four five six seven eight nine\n- b",
    "- one two three four five six seven\n  eight nine\n- b\n",
  ],
  ["a table that fits is aligned", "| a | b |\n| --- | --- |\n| `x` | y |", "a  b\nx  y\n"],
  [
    "what a table is made by is not shown",
    "<!-- exits -->\n| | |\n| --- | --- |\n| a | b |\n<!-- /exits -->",
    "a  b\n",
  ],
  [
    "a table that is too wide wraps its last column",
    "| flag | meaning |\n| --- | --- |\n| `--x` | one two three four five six seven eight nine |",
    "flag  meaning\n--x   one two three four five six seven\n      eight nine\n",
  ],
  [
    "with columns before it that take more than half, each row is a block, each cell with its column's name",
    "| flag | by default it is | meaning |\n| --- | --- | --- |\n| `--x` | 1s in all commands | one two three four five six seven |",
    "--x\n    by default it is: 1s in all commands\n    meaning: one two three four five six\n    seven\n",
  ],
  ["a bar in a cell", "| a |\n| --- |\n| b\\|c |", "a\nb|c\n"],
])("%s", (_, text, lines) => {
  expect(renderMarkdown(text, plain)).toBe(lines);
});

test("code and headings have a style where there are colours, which takes no room", () => {
  const text = renderMarkdown("## Head\n\none `two` three four five six seven eight nine", {
    width: 39,
    isStyled: true,
  });
  expect(text).toBe("\x1b[1mHead\x1b[0m\n\none \x1b[36mtwo\x1b[0m three four five six seven eight\nnine\n");
});

describe("a page of the manual", () => {
  const folder = join(import.meta.dirname, "../../../src/manual");
  test.each(readdirSync(folder))("%s has a title, and lines that fit", (file) => {
    const text = readFileSync(join(folder, file), "utf8");
    expect(titleOf(text)).not.toBe("");
    const lines = renderMarkdown(text, { width: 80, isStyled: false }).split("\n");
    const long = lines.filter((line) => line.length > 80 && !line.startsWith("    ") && line.includes(" "));
    expect(long).toEqual([]);
    expect(lines.filter((line) => /<!--|\]\(|^\|/.test(line))).toEqual([]);
  });
});
