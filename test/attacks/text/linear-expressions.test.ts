import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { processorMs } from "../../processor-time.ts";
import { expressionsIn } from "./expressions.ts";

const source = resolve(import.meta.dirname, "../../../src");

/** FILE, EXPRESSION, WHOSE, WHY a line. */
const listed = readFileSync(join(import.meta.dirname, "expressions.tsv"), "utf8")
  .split("\n")
  .filter((line) => line !== "" && !line.startsWith("#"))
  .map((line) => line.split("\t"));

test("each regular expression is listed with whose text it reads, and why it is linear", async () => {
  const found: string[] = [];
  for (const file of new Bun.Glob("**/*.ts").scanSync(source)) {
    const text = await Bun.file(join(source, file)).text();
    for (const expression of expressionsIn(text)) found.push(`${file} ${expression}`);
  }
  const known = listed.map(([file, expression]) => `${file} ${expression}`);
  expect(known.toSorted()).toEqual(found.toSorted());
  for (const [, , whose = "", why = ""] of listed) {
    expect(["pod", "cluster", "user", "own"]).toContain(whose);
    expect(why).not.toBe("");
  }
});

const SIZE = 32 * 1024;
/** Of processor time. One that is tried from each place, or in each way, takes many seconds for so much. */
const MOST_MS = 1000;

/** What to repeat, so that a repetition goes on and what follows it fails. */
const units = [..."0aAf .:-/=\\\"'[(,_\t\n\r#", "::", ".0", "a:", " a", "\n ", '\\"', "{}", "a-", "a.", "/a"];
const starts = ["", "0", "listener.a", "[", "a="];

describe("no regular expression takes long for 32 KB, whatever they are", () => {
  const expressions = [...new Set(listed.map(([, expression = ""]) => expression))].filter((each) => each !== "RegExp");
  test.each(expressions)("%s", (expression) => {
    const end = expression.lastIndexOf("/");
    const flags = expression.slice(end + 1);
    const tried = new RegExp(expression.slice(1, end), flags);
    const own = expression.match(/[a-zA-Z_]{3,}/g) ?? [];
    for (const unit of [...units, ...own, ...own.map((word) => `.${word}.`)]) {
      for (const start of starts) {
        const text = `${start}${unit.repeat(SIZE / unit.length)}\0\n!`;
        const tookMs = processorMs(() => text.replace(tried, ""));
        if (tookMs > MOST_MS) throw new Error(`${JSON.stringify([start, unit])}: ${tookMs} ms`);
      }
    }
  });
});
