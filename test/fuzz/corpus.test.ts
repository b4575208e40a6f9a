import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { grammars, inputOf } from "./grammars.ts";

const corpus = join(import.meta.dirname, "corpus");

test.each(readdirSync(corpus))("what once failed does no more: %s", (file) => {
  const [name = ""] = file.split(".");
  grammars[name]?.check(JSON.parse(readFileSync(join(corpus, file), "utf8")));
  expect(Object.keys(grammars)).toContain(name);
});

test.each(Object.entries(grammars))("the first inputs of the grammar %s", (_, grammar) => {
  for (let seed = 1; seed <= 100; seed += 1) expect(() => grammar.check(inputOf(grammar, seed))).not.toThrow();
});
