import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { join } from "node:path";

const progress = join(import.meta.dirname, "../../build/setup/progress.mjs");
const erase = "\r\x1b[K";

test("of bun test's output a terminal keeps what failed, and the summary", () => {
  const output = [
    "a.test.ts:",
    "(pass) one",
    "of two lines",
    "(pass) two",
    "error: why",
    "(fail) three",
    "(pass) four",
  ];
  const script = `import { runTests } from ${JSON.stringify(progress)};
    await runTests(["printf", "%s\\n", ...${JSON.stringify([...output, " 3 pass", " 1 fail"])}], {});`;
  const { stdout } = spawnSync("node", ["--input-type=module", "--eval", script], { encoding: "utf8" });
  const lines = stdout.split("\n").map((line) => line.slice(line.lastIndexOf(erase) + erase.length));
  expect(lines).toEqual(["error: why", "(fail) three", " 3 pass", " 1 fail", ""]);
});
