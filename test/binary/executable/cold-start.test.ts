import { afterAll, beforeAll, expect, test } from "bun:test";
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { dropPages, residentPages } from "../../../build/start/page-cache.ts";
import { childPath } from "../../compiled.ts";
import { ebb, ebbPath } from "../../harness.ts";
import { fakeSidecar } from "../../stand-in/sidecar.ts";

/** Beside the executable: a folder for temporary files may be in memory, which nothing is read from. */
const folder = mkdtempSync(join(dirname(ebbPath), "cold-start-"));
const program = join(folder, "ebb");
const limit = 15e6;

beforeAll(() => copyFileSync(ebbPath, program));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const residentBytes = (): number => residentPages(program).reduce((sum, isResident) => sum + isResident, 0) * 0x1000;

async function coldStart(args: readonly string[]): Promise<{ code: number; readBytes: number }> {
  await dropPages(program);
  expect(residentBytes()).toBe(0);
  const { code } = await ebb(args, { program });
  return { code, readBytes: residentBytes() };
}

test.each([
  ["run", ["run", "--sidecar", "none", "--", childPath(), "exit", "0"]],
  ["sleep", ["sleep", "0"]],
])("%s reads at most 15 MB of the executable when nothing of it is in memory", async (_, args) => {
  const { code, readBytes } = await coldStart(args);
  expect(code).toBe(0);
  expect(readBytes).toBeGreaterThan(5e6);
  expect(readBytes).toBeLessThan(limit);
});

test("run beside a sidecar that it waits for and quits reads no more", async () => {
  await using sidecar = await fakeSidecar({ isReady: true });
  const { code, readBytes } = await coldStart([
    ...["run", "--sidecar", "envoy", "--admin", sidecar.url],
    ...["--", childPath(), "exit", "7"],
  ]);
  expect(code).toBe(7);
  expect(sidecar.requests).toContain("POST /quitquitquit");
  expect(readBytes).toBeLessThan(limit);
});

test("a start that finds all in memory reads nothing", async () => {
  await coldStart(["sleep", "0"]);
  const before = residentBytes();
  await ebb(["sleep", "0"], { program });
  expect(residentBytes()).toBe(before);
});
