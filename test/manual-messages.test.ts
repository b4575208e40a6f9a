import { expect, test } from "bun:test";
import { errors, warnings } from "../src/shared/core/log-messages.ts";
import { failures, logMessages, loudMessages, unknownLines } from "./manual-messages.ts";

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

test("what ebb writes and the manual does not have is found", () => {
  const known = ["ebb: ready target=x waited=1s", "ebb: warn: drain ended", "ebb: a.yaml:2: no YAML", "of the app"];
  const entry = { level: "info", msg: "ebb: ready", target: "x", waitedMs: 1 };
  const entries = [entry, { msg: "of the app" }].map((each) => JSON.stringify(each));
  const unknown = [
    "ebb: unknown",
    ...[{ ...entry, why: "x" }, { msg: "ebb: steady" }].map((each) => JSON.stringify(each)),
  ];
  expect(unknownLines([...known, ...entries, ...unknown].join("\n"))).toEqual(unknown);
});
