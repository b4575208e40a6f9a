import { expect, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { checkSums, writeSums } from "../../build/sums.ts";
import { temporaryFolder } from "../harness.ts";

test.each<[string, (folder: string) => void, string | undefined]>([
  ["nothing else happened", () => undefined, undefined],
  [
    "one is changed",
    (folder) => writeFileSync(join(folder, "b"), "other"),
    "b has another digest than when it was made",
  ],
  ["one is gone", (folder) => rmSync(join(folder, "a")), "a has another digest than when it was made"],
  ["their list is gone", (folder) => rmSync(join(folder, "SHA256SUMS")), "SHA256SUMS is missing"],
])("files that were listed are what they were: %s", (_, change, wrong) => {
  using folder = temporaryFolder();
  for (const name of ["a", "b"]) writeFileSync(join(folder.path, name), name);
  writeSums(folder.path, ["a", "b"]);
  change(folder.path);
  expect(checkSums(folder.path)).toBe(wrong);
});
