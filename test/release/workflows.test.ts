import { expect, test } from "bun:test";
import { resolve } from "node:path";
import { compiledProgram } from "../sidecars/compile.ts";

test("actionlint finds nothing in the workflows", () => {
  const { path } = compiledProgram("actionlint");
  const { exitCode, stdout } = Bun.spawnSync([path, "-no-color"], { cwd: resolve(import.meta.dirname, "../..") });
  expect({ exitCode, stdout: stdout.toString() }).toEqual({ exitCode: 0, stdout: "" });
});
