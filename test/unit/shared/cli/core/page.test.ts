import { describe, expect, test } from "bun:test";
import { manualPages } from "../../../../../build/pages.ts";
import { renderPage } from "../../../../../src/help.ts";
import { introOf, titleOf } from "../../../../../src/shared/cli/core/page.ts";

const plain = { columns: 80, colors: false };

test.each<[string, string, string]>([
  ["marks of code and of what is bold go", "**say** `ebb run` now", "say ebb run now\n"],
  ["code in a sentence is on one line", "- say `ebb\n  run` now", "  * say ebb run now\n"],
  ["a link is its text, and its page", "see [the drain](drain.md#why)", "see the drain (ebb help drain)\n"],
  ["a link that says its page", "see [drain](drain.md)", "see drain\n"],
  [
    "a link to another file is its text, and the path in the repository",
    "see [it](../../test/EVIDENCE.md#apps)",
    "see it (test/EVIDENCE.md in ebb's repository)\n",
  ],
  [
    "a link to a section of another file that says its title",
    "see [All, apps](../../a.md#all-apps)",
    "see All, apps\n",
  ],
  ["a link elsewhere is its text", "see [it](https://a.example)", "see it\n"],
  ["a link in the page is its text", "see [the limits](#limits)", "see the limits\n"],
  ["an image is not shown", "a\n\n![b](c.svg)\n\nd", "a\n\nd\n"],
  ["what a table is made by is not shown", "a\n\n<!-- exits -->\n- b\n<!-- /exits -->\n\nc", "a\n  * b\n\nc\n"],
  [
    "code stays as it is, without a frame",
    "Say:\n\n    ebb run -- /app --with many words that are longer than the terminal is wide, which nothing may break\n    [a](b)\n\nor",
    "Say:\n\n    ebb run -- /app --with many words that are longer than the terminal is wide, which nothing may break\n    [a](b)\n\nor\n",
  ],
  ["fenced code, too", "a\n\n```yaml\na:\n  - b\n\n  - c\n```\n\nd", "a\n\n    a:\n      - b\n\n      - c\n\nd\n"],
])("%s", (_, page, shown) => {
  expect(renderPage(page, plain)).toBe(shown);
});

test("a picture is its drawing, as code", () => {
  const { drain = "" } = manualPages();
  expect(drain).toContain("\n```text\nSeconds after the pod was deleted\n");
  expect(renderPage(drain, plain)).toContain("\n\n    Seconds after the pod was deleted\n      0         5 ");
});

test("the first paragraph, on one line, without marks", () => {
  const page = "# Title\n\n![image](x.svg)\n\n`ebb run` does\n**all** of [it](run.md#it).\n\nMore.\n";
  expect([titleOf(page), introOf(page)]).toEqual(["Title", "ebb run does all of it (ebb help run)."]);
});

/** A command line that people copy, as code in a sentence. */
const COMMAND = /`(ebb|kubectl|docker|sed|npm|helm|git)( [^` ]+){3,}`/;

describe.each(Object.entries(manualPages()))("the page %s", (_, page) => {
  const lines = renderPage(page, plain).split("\n");

  test("has a title, and fits 80 columns without Markdown's marks", () => {
    expect(titleOf(page)).not.toBe("");
    expect(lines.filter((line) => line.length > 80 && !line.startsWith("    "))).toEqual([]);
    expect(lines.filter((line) => /<!--|!\[|\]\(|\*\*[A-Za-z]/.test(line))).toEqual([]);
  });

  test("has no command in a table, whose frame would break it", () => {
    expect(page.split("\n").filter((line) => line.startsWith("|") && COMMAND.test(line))).toEqual([]);
  });
});
