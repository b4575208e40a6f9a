import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { failureTexts, messageGroups } from "../../../build/messages.ts";
import type { Catalogue } from "../../../src/core/messages/message.ts";

const source = join(import.meta.dirname, "../../../src");
const page = (name: string) => readFileSync(join(source, "manual", name), "utf8");
const files = readdirSync(source, { recursive: true, encoding: "utf8" }).filter((path) => /\.(ts|c)$/.test(path));
const texts = files.map((path) => [path, readFileSync(join(source, path), "utf8")] as const);
const code = texts.flatMap(([path, text]) => (path.startsWith("core/messages/") ? [] : [text])).join("\n");

const messages: readonly (readonly [string, Catalogue[string]])[] = messageGroups.flatMap(([, group]) =>
  Object.entries(group),
);
const loud = messages.flatMap(([message, entry]) => ("cause" in entry ? [[message, entry] as const] : []));
const failures = Object.entries(failureTexts);

test("no message stands in two groups", () => {
  expect(new Set(messages.map(([message]) => message)).size).toBe(messages.length);
  expect(messages.length).toBeGreaterThan(80);
});

test.each(messages)("%s: each field has a meaning, and a warning or an error is more than information", (_, entry) => {
  for (const meaning of [entry.by, ...Object.values(entry.fields)]) expect(meaning).not.toBe("");
  const isLoud = [entry.level].flat().some((level) => level === "warn" || level === "error");
  expect("cause" in entry).toBe(isLoud);
});

test.each(messages)("%s: is constant in the code, and in the manual", (message) => {
  const isDecision = /^pod (injected|removed|refused|skipped)$/.test(message); // `pod ${result}`
  expect(isDecision || code.includes(`"${message}"`)).toBe(true);
  expect(page("logs.md")).toContain(`- \`${message}\`: `);
});

describe("has a cause and a cure, in whole sentences, in the manual:", () => {
  const troubleshooting = page("troubleshooting.md");

  test.each([...loud, ...failures])("%s", (text, { cause, cure }) => {
    for (const sentence of [cause, cure]) expect(sentence).toMatch(/\.$/);
    expect(troubleshooting).toMatch(new RegExp(`^- \`${RegExp.escape(text)}\``, "m"));
    expect(troubleshooting).toContain(`${cause} **Do:** ${cure}\n`);
  });
});

test.each(failures)("%s: what is constant in it stands in the code", (text) => {
  const parts = text.split(/\{\w+\}/).filter((part) => /[a-z]{3}/i.test(part));
  expect(
    parts.filter((part) => !code.includes(part.trim()) && !code.includes(JSON.stringify(part).slice(1, -1))),
  ).toEqual([]);
});

test("only types of the catalogue are imported by what runs", () => {
  const imports = texts.flatMap(([path, text]) =>
    [...text.matchAll(/^import (type )?.*\bmessages\/[\w-]+\.ts"/gm)].map(([, isType]) => [path, isType] as const),
  );
  expect(imports.length).toBeGreaterThan(15);
  expect(imports.filter(([, isType]) => isType === undefined)).toEqual([]);
});
