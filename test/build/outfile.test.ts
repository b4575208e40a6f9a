import { expect, test } from "bun:test";
import { lstatSync } from "node:fs";
import { resolve } from "node:path";

const project = resolve(import.meta.dirname, "..", "..");

test("a device is not replaced by an executable", () => {
  const words = [process.execPath, "build/build.ts", "--outfile", "/dev/full"];
  const { exitCode, stderr } = Bun.spawnSync(words, { cwd: project });
  expect(stderr.toString()).toBe("build: --outfile /dev/full is no regular file\n");
  expect(exitCode).toBe(1);
  expect(lstatSync("/dev/full").isCharacterDevice()).toBe(true);
});
