import { expect, test } from "bun:test";
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { fetchPinnedBun } from "../../build/link/pinned-bun.ts";
import { ebbPath } from "../harness/ebb.ts";
import { host } from "../harness/linked-bun.ts";

const lockfile = resolve(import.meta.dirname, "../../package-lock.json");

test("the executable is smaller than the Bun in it: the build removes more than ebb and its libraries add", () => {
  const { size, blocks } = statSync(ebbPath);
  expect(size).toBeLessThan(statSync(fetchPinnedBun(host, lockfile)).size);
  expect(blocks * 512).toBeLessThanOrEqual(size + 0.1e6);
});
