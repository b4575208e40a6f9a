import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { resolve } from "node:path";
import packageJson from "../../package.json";

const task = resolve(import.meta.dirname, "../../build/task.mjs");

test.each(Object.entries(packageJson.scripts))("npm run %s is a task of that name", (name, command) => {
  expect(command).toBe(`node build/task.mjs ${name}`);
});

test.each(Object.keys(packageJson.scripts))("npm run %s -- --help says what it takes, and builds nothing", (name) => {
  const { status, stdout, stderr } = spawnSync("node", [task, name, "--help"], { encoding: "utf8" });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  expect(stdout).toStartWith(name === "start" || name === "test" ? `npm ${name}` : `npm run ${name}`);
  expect(stdout).not.toContain("bundle");
});

test("an unknown task is named with those that there are", () => {
  const { status, stderr } = spawnSync("node", [task, "tests"], { encoding: "utf8" });
  expect(status).toBe(64);
  expect(stderr).toContain("tests: expected any of start, build, check");
});
