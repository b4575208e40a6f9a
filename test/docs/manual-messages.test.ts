import { expect, test } from "bun:test";
import { errors, warnings } from "../../src/shared/core/log-messages.ts";
import { failures, logMessages, unknownLines } from "./manual-messages.ts";

const isLoud = (level: string) => level === "warn" || level === "error";
const hasAdvice = (advice: string) => /^.+\. \*\*Do:\*\* .+\.$/.test(advice);

test("the manual has each warning and error, at its level, with its cause and what to do", () => {
  const withAdvice = logMessages.filter(({ advice }) => hasAdvice(advice));
  const inManual = withAdvice.flatMap(({ text, kinds }) => kinds.filter(isLoud).map((level) => `${level}: ${text}`));
  const inCode = [...warnings.map((text) => `warn: ${text}`), ...errors.map((text) => `error: ${text}`)];
  expect(inManual.toSorted()).toEqual(inCode.toSorted());
});

test("the manual has the cause of each failure, and what to do", () => {
  expect(failures.length).toBeGreaterThan(40);
  expect(failures.filter(({ advice }) => !hasAdvice(advice))).toEqual([]);
});

test("the manual has each message once", () => {
  const texts = [...logMessages, ...failures].map(({ text }) => text);
  expect(logMessages.length).toBeGreaterThan(100);
  expect(texts.filter((text, at) => texts.indexOf(text) !== at)).toEqual([]);
});

test("what ebb writes and the manual does not have is found", () => {
  const known = ["ebb: ready target=x waited=1s", "ebb: warn: drain ended", "ebb: a.yaml:2: no YAML", "of the app"];
  const exitCode = 65;
  const entry = { level: "info", msg: "ebb: ready", target: "x", waitedMs: 1 };
  const shared = { level: "info", msg: "ebb: pod gone", namespace: "x", why: "x" };
  const failed = { level: "error", msg: "ebb: cannot go on", reason: "a.yaml:2: no YAML", exitCode };
  const entries = [entry, shared, failed, { msg: "of the app" }].map((each) => JSON.stringify(each));
  const unknown = [
    "ebb: unknown",
    "ebb: a.yaml: cannot access: x", // the manual has it with 71
    ...[
      { ...entry, why: "x" },
      { ...entry, level: "warn" },
      { level: "info", msg: "ebb: steady" },
      { ...failed, reason: "unknown" },
    ].map((each) => JSON.stringify(each)),
  ];
  expect(unknownLines([...known, ...entries, ...unknown].join("\n"), exitCode)).toEqual(unknown);
});
