import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../harness/ebb.ts";

/** Runs build/suites.mjs beside tasks that are these lines of JavaScript. */
function suites(task: string, given: readonly string[], through: readonly string[] = []) {
  using folder = temporaryFolder();
  const build = join(folder.path, "build");
  mkdirSync(build);
  chmodSync(folder.path, 0o755);
  copyFileSync(join(import.meta.dirname, "../../build/suites.mjs"), join(build, "suites.mjs"));
  writeFileSync(join(build, "task.mjs"), `const [, , name, ...words] = process.argv;\n${task}`);
  const [program = "", ...words] = [...through, "node", join(build, "suites.mjs"), ...given];
  const { status, stdout } = spawnSync(program, words, { encoding: "utf8" });
  return { status, lines: stdout.trimEnd().split("\n") };
}

test("after a failure the next task runs; the failed tests and the sums are at the end", () => {
  const task = `
    if (name === "a") console.log("(fail) that [1ms]\\n\\n 3 pass\\n 2 skip\\n 1 fail");
    if (name === "b") console.error(" 4 pass\\n 0 fail\\n1 pass");
    process.exit({ a: 1, c: 64 }[name] ?? 0);`;
  const { status, lines } = suites(task, ["a", "c", "b --for 1s"]);
  expect(lines.slice(-5).map((line) => line.replace(/\d+\.\d min$/, "N min"))).toEqual([
    "(fail) that [1ms]",
    "a: 3 passed, 1 failed, 2 skipped, N min",
    "c: 0 passed, 1 failed, 0 skipped, N min",
    "b --for 1s: 5 passed, 0 failed, 0 skipped, N min",
    "8 passed, 2 failed",
  ]);
  expect(status).toBe(64);
});

test.skipIf(process.getuid?.() !== 0)(
  "without root the tasks that need it are named, and not run (which needs root)",
  () => {
    const { status, lines } = suites("console.log(name, ...words)", [], ["setpriv", "--reuid=65534", "--clear-groups"]);
    expect(lines.filter((line) => !line.includes(" passed, "))).toEqual([
      ...["test", "test:builds", "test:faults", "fuzz --for 20s", "test:syscalls"],
      ...["test:sidecars", "test:release", "test:orchestrators", "test:cluster"].map(
        (task) => `${task}: not run: it needs root`,
      ),
    ]);
    expect(status).toBe(0);
  },
);
