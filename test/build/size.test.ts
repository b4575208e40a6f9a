import { expect, test } from "bun:test";
import { statSync } from "node:fs";
import { ebbPath } from "../harness.ts";

test("the executable has at most 78 MB on disk, the price of each pull and of each node", () => {
  const { size, blocks } = statSync(ebbPath);
  expect(size).toBeLessThanOrEqual(78e6);
  expect(blocks * 512).toBeLessThanOrEqual(78.1e6);
});
