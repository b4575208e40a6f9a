import { expect, test } from "bun:test";
import { errors, warnings } from "../src/core/base/log-messages.ts";
import { failures, logMessages, loudMessages, unknownEntries, unknownLines } from "./manual-messages.ts";

/** Sorts [level, text] pairs, one for each level of each text at which something went wrong. */
function loud(named: readonly (readonly [levels: string | undefined, text: string])[]) {
  return named
    .flatMap(([levels = "", text]) => levels.split(", ").map((level) => [level, text] as const))
    .filter(([level]) => level === "warn" || level === "error")
    .toSorted();
}

const expected = loud([
  ...warnings.map((text) => ["warn", text] as const),
  ...errors.map((text) => ["error", text] as const),
]);

test("the manual has the fields of each warning and error", () => {
  expect(logMessages.length).toBeGreaterThan(80);
  expect(loud(logMessages.map(({ text, rest }) => [/^: ([a-z, ]+);/.exec(rest)?.[1], text]))).toEqual(expected);
});

test("the manual has the cause of each warning and error, and what to do", () => {
  expect(loudMessages.filter(({ rest }) => !/^ \([a-z, ]+\)\. .+\. \*\*Do:\*\* .+\.$/.test(rest))).toEqual([]);
  expect(loud(loudMessages.map(({ text, rest }) => [/\(([a-z, ]+)\)/.exec(rest)?.[1], text]))).toEqual(expected);
});

test("the manual has the cause of each failure, and what to do", () => {
  expect(failures.length).toBeGreaterThan(40);
  expect(failures.filter(({ text, rest }) => text === "" || !/^\. .+\. \*\*Do:\*\* .+\.$/.test(rest))).toEqual([]);
});

test("a line that is not in the manual is found", () => {
  const lines = ["ebb: ready target=x waited=1s", "ebb: unknown flag --x", "ebb: unknown", "ebb: a.yaml:2: no YAML"];
  expect(unknownLines(lines.join("\n"))).toEqual(["ebb: unknown"]);
});

test("a log entry that is not in the manual, or has a field that is not, is found", () => {
  const ready = { level: "info", msg: "ebb: ready", target: "x", waitedMs: 1 };
  const unknown = [{ msg: "ebb: steady" }, { ...ready, why: "x" }];
  expect(unknownEntries([ready, ...unknown])).toEqual(unknown);
});
