import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";

const read = (path: string): string => readFileSync(resolve(import.meta.dirname, "../..", path), "utf8");
const matches = (text: string, pattern: RegExp): string[] => [...text.matchAll(pattern)].map(([, name = ""]) => name);

test("the static executable has each function that src/system/libc.ts and native.ts name, and no other", () => {
  const wanted = ["libc.ts", "native.ts"].flatMap((file) =>
    matches(read(`src/system/${file}`), /^\s+(\w+): \{\s*args:/gm),
  );
  const listed = matches(read("build/glue.c"), /^ {2}ENTRY\((\w+)\)/gm);
  expect(wanted.length).toBeGreaterThan(0);
  expect(listed.toSorted()).toEqual(wanted.toSorted());
});
