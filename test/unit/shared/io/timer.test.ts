import { expect, test } from "bun:test";
import { join } from "node:path";

const timer = join(import.meta.dirname, "../../../../src/shared/io/timer.ts");

test("a deadline that is past comes at once, without a word on stderr", () => {
  const program = `(await import(${JSON.stringify(timer)})).deadline(-15.5, () => console.log("over"))`;
  const { exitCode, stdout, stderr } = Bun.spawnSync([process.execPath, "-e", program]);
  expect([exitCode, stdout.toString(), stderr.toString()]).toEqual([0, "over\n", ""]);
});
