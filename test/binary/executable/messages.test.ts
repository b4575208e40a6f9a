import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { logMessages, otherMessages } from "../../docs/log-messages.ts";
import { ebbPath } from "../../harness/ebb.ts";

/** The code of the executable, plain text in it, and what a desk build has beside that. */
const code = [ebbPath, resolve(import.meta.dirname, "../../../src/desk/main.ts")].map((path) => readFileSync(path));

test("the code has what is constant in each message that tests and the manual know", () => {
  const texts = [...logMessages, ...otherMessages].map(({ text }) => text);
  const constant = texts.flatMap((text) => text.split(/\{\w+\}/)).map((part) => part.trim());
  const words = constant.filter((part) => /[a-z]{3}/i.test(part));
  expect(words.filter((part) => !code.some((bytes) => bytes.includes(part)))).toEqual([]);
});
