import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { whyNotReady } from "../../../../src/shared/io/file.ts";
import { temporaryFolder } from "../../../harness/ebb.ts";

test("a file is ready when it is there or, if that is asked for, has contents", () => {
  using folder = temporaryFolder();
  const at = (name: string) => join(folder.path, name);
  writeFileSync(at("empty"), "");
  for (const length of [1, 2, 100_000]) writeFileSync(at(`${length}`), "x".repeat(length));
  mkdirSync(at("folder"));
  const reasons = (isNotEmpty: boolean) =>
    ["none", "empty/none", "empty", "1", "2", "100000", "folder"].map((name) => whyNotReady(at(name), isNotEmpty));
  expect(reasons(false).slice(0, 2)).toEqual(["no such file", "no such file"]);
  expect(reasons(false).slice(2)).toEqual(Array(5).fill(undefined));
  const [absent, below, empty, ...full] = reasons(true);
  expect([absent, below, empty]).toEqual(["no such file", "no such file", "the file is empty"]);
  expect(full).toEqual([undefined, undefined, undefined, "is a directory"]);
});
