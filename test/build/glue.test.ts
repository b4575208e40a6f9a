import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";

const read = (path: string): string => readFileSync(resolve(import.meta.dirname, "../..", path), "utf8");
const matches = (text: string, pattern: RegExp): string[] => [...text.matchAll(pattern)].map(([, name = ""]) => name);

test("the static executable has each function of libc that src/system/libc.ts names, and no other", () => {
  const wanted = matches(read("src/system/libc.ts"), /^\s+(\w+): \{\s*args:/gm);
  const listed = matches(read("build/glue.c"), /^ {2}ENTRY\((\w+)\)/gm);
  expect(wanted.length).toBeGreaterThan(0);
  expect(listed.toSorted()).toEqual([...wanted, "ebb_inherited"].toSorted());
});
