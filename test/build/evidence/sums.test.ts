import { expect, test } from "bun:test";
import { rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { digestOf as digestOfBytes } from "../../../build/evidence/sums.ts";
import { checkSums, writeSums } from "../../../build/setup/sums.mjs";
import { temporaryFolder } from "../../harness/ebb.ts";

const digestOf = (text: string) => digestOfBytes(new TextEncoder().encode(text));

test.each<[string, (folder: string) => void, string | undefined]>([
  ["nothing else happened", () => undefined, undefined],
  [
    "one is changed",
    (folder) => writeFileSync(join(folder, "b"), "other"),
    `b: expected SHA-256 ${digestOf("b")}, got ${digestOf("other")}`,
  ],
  ["one is gone", (folder) => rmSync(join(folder, "a")), "a is missing"],
  ["there is one more", (folder) => writeFileSync(join(folder, "c"), ""), "c is not one of its files"],
  [
    "one has become a link",
    (folder) => {
      rmSync(join(folder, "a"));
      symlinkSync("b", join(folder, "a"));
    },
    `a: expected SHA-256 ${digestOf("a")}, got ${digestOf("b")}`,
  ],
  ["their list is gone", (folder) => rmSync(join(folder, "SHA256SUMS")), "SHA256SUMS is missing"],
  ["their list is empty", (folder) => writeFileSync(join(folder, "SHA256SUMS"), ""), "a is not one of its files"],
])("files that were listed are what they were: %s", (_, change, wrong) => {
  using folder = temporaryFolder();
  for (const name of ["a", "b"]) writeFileSync(join(folder.path, name), name);
  writeSums(folder.path, ["a", "b"]);
  change(folder.path);
  expect(checkSums(folder.path)).toBe(wrong);
});
