import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { errors, warnings } from "../../../src/shared/core/log-messages.ts";
import { ebbPath } from "../../harness.ts";
import { failures } from "../../manual-messages.ts";

/** Its code is plain text, and the manual in it is compressed. */
const executable = readFileSync(ebbPath);

test("the code has what is constant in each warning, error and failure of the manual", () => {
  const texts = [...warnings, ...errors, ...failures.map(({ text }) => text)];
  const constant = texts.flatMap((text) => text.split(/\{\w+\}/)).map((part) => part.trim());
  const words = constant.filter((part) => /[a-z]{3}/i.test(part));
  expect(words.filter((part) => !executable.includes(part))).toEqual([]);
});
