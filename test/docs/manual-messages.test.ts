import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { errors, warnings } from "../../src/shared/core/log-messages.ts";
import { logMessages, otherMessages } from "./log-messages.ts";
import { unknownLines } from "./unknown-lines.ts";

const page = readFileSync(join(import.meta.dirname, "../..", "src", "manual", "logs.md"), "utf8");

/** The rows of the page's tables of messages: "| `MESSAGE` · `MESSAGE` | CAUSE | DO |". */
const rows = page
  .split("\n")
  .filter((line) => /^\| `[^|]*\|[^|]*\|[^|]*\|$/.test(line))
  .map((line) => line.split("|").map((cell) => cell.trim()))
  .map(([, messages = "", cause = "", cure = ""]) => ({ texts: textsIn(messages), cause, cure }));

/** @throws Error if a cell has anything but messages */
function textsIn(cell: string): readonly string[] {
  if (!/^`[^`]+`( · `[^`]+`)*$/.test(cell)) throw new Error(`logs.md: cannot read the messages ${cell}`);
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, text = ""]) => text);
}

const isLoud = (level: string) => level === "warn" || level === "error";
const inManual = rows.flatMap(({ texts }) => texts);
const loud = logMessages.filter(({ levels }) => levels.some(isLoud)).map(({ text }) => text);

test("the manual has each warning and error", () => {
  expect(loud.length).toBeGreaterThan(60);
  expect(loud.filter((text) => !inManual.includes(text))).toEqual([]);
});

test("each message stands once in the manual, with its cause and what to do", () => {
  expect(inManual.filter((text, at) => inManual.indexOf(text) !== at)).toEqual([]);
  const isSaid = (cell: string) => /\w\S* \S*\w/.test(cell);
  expect(rows.filter(({ cause, cure }) => !isSaid(cause) || !isSaid(cure))).toEqual([]);
});

test("the manual names no message that ebb does not have", () => {
  const known = [...logMessages, ...otherMessages].map(({ text }) => text);
  expect(inManual.filter((text) => !known.includes(text))).toEqual([]);
});

test("what tests take for a warning or an error is one in the code, at its level", () => {
  const known = logMessages.flatMap(({ text, levels }) => levels.filter(isLoud).map((level) => `${level}: ${text}`));
  const inCode = [...warnings.map((text) => `warn: ${text}`), ...errors.map((text) => `error: ${text}`)];
  expect(known.toSorted()).toEqual(inCode.toSorted());
});

test("what ebb writes and log-messages.ts does not have is found", () => {
  const known = ["ebb: ready target=x waited=1s", "ebb: warn: drain ended", "ebb: a.yaml:2: no YAML", "of the app"];
  const exitCode = 65;
  const entry = { level: "info", msg: "ebb: ready", target: "x", waitedMs: 1 };
  const shared = { level: "info", msg: "ebb: pod gone", namespace: "x", why: "x" };
  const failed = { level: "error", msg: "ebb: cannot go on", reason: "a.yaml:2: no YAML", exitCode };
  const entries = [entry, shared, failed, { msg: "of the app" }].map((each) => JSON.stringify(each));
  const unknown = [
    "ebb: unknown",
    "ebb: a.yaml: cannot access: x", // known with 71
    ...[
      { ...entry, why: "x" },
      { ...entry, level: "warn" },
      { level: "info", msg: "ebb: steady" },
      { ...failed, reason: "unknown" },
    ].map((each) => JSON.stringify(each)),
  ];
  expect(unknownLines([...known, ...entries, ...unknown].join("\n"), exitCode)).toEqual(unknown);
});
