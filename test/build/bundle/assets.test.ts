import { expect, test } from "bun:test";
import { zstdCompressSync } from "node:zlib";
import { findAssets } from "../../../build/bundle/assets.ts";

test("compressed assets are found whole, and stay where nobody has looked at them", () => {
  const frames = [zstdCompressSync("// the first asset"), zstdCompressSync(Buffer.alloc(300_000, "a"))] as const;
  const bytes = Buffer.concat([
    Buffer.from("before"),
    frames[0],
    Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0xff]),
    frames[1],
  ]);
  const { dead, unknown } = findAssets(bytes, { from: 0, to: bytes.length });
  expect(dead).toEqual([]);
  expect(unknown.map(({ from, to }) => bytes.subarray(from, to))).toEqual([...frames]);
  expect(unknown.map(({ text }) => text.slice(0, 18))).toEqual(["// the first asset", "a".repeat(18)]);
  expect(findAssets(bytes, { from: 0, to: bytes.length - 1 }).unknown).toHaveLength(1);
});
