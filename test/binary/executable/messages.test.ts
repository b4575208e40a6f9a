import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { errors, warnings } from "../../../src/shared/core/log-messages.ts";
import { failures } from "../../docs/manual-messages.ts";
import { ebbPath } from "../../harness/ebb.ts";

/** The code of the executable, plain text in it, as the manual is not, and what a desk build has beside that. */
const code = [ebbPath, resolve(import.meta.dirname, "../../../src/desk/main.ts")].map((path) => readFileSync(path));

test("the code has what is constant in each warning, error and failure of the manual", () => {
  const texts = [...warnings, ...errors, ...failures.map(({ text }) => text)];
  const constant = texts.flatMap((text) => text.split(/\{\w+\}/)).map((part) => part.trim());
  const words = constant.filter((part) => /[a-z]{3}/i.test(part));
  expect(words.filter((part) => !code.some((bytes) => bytes.includes(part)))).toEqual([]);
});
