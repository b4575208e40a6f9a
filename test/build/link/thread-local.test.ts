import { describe, expect, test } from "bun:test";
import { type Segment, segmentType } from "../../../build/link/elf.ts";
import { checkThreadBlock, threadBlock, threadOffset } from "../../../build/link/thread-local.ts";
import { targetNamed } from "../../../build/targets.ts";

const x64 = targetNamed("x64");
const arm64 = targetNamed("arm64");
const image = (memorySize: number, align: number, address = 0x1000): Segment => ({
  type: segmentType.thread,
  flags: 4,
  offset: 0,
  address,
  fileSize: 0,
  memorySize,
  align,
});

describe("the executable's thread-local image", () => {
  test.each([
    { target: x64, size: 100, align: 16, base: -112, block: 128, lead: 16 },
    { target: x64, size: 4, align: 4, base: -4, block: 64, lead: 60 },
    { target: x64, size: 256, align: 256, base: -256, block: 256, lead: 0 },
    { target: arm64, size: 100, align: 8, base: 16, block: 104, lead: 0 },
    { target: arm64, size: 100, align: 64, base: 64, block: 128, lead: 0 },
  ])(
    "of $size bytes aligned to $align begins at $base from the thread pointer ($target.name)",
    ({ target, size, align, base, block, lead }) => {
      expect(threadBlock(image(size, align), target)).toMatchObject({ size: block, lead, base });
    },
  );

  test("that does not exist takes room all the same, so that there is always one merged image", () => {
    expect(threadBlock(undefined, x64).size).toBeGreaterThan(0);
    expect(threadBlock(undefined, arm64).size).toBeGreaterThan(0);
  });

  test("at an address that is not aligned is refused", () => {
    expect(() => threadBlock(image(8, 16, 0x1008), x64)).toThrow("is not aligned to 16");
  });
});

describe("in the merged image", () => {
  test("the runtime's variables lie below the thread pointer on x86-64 and above it on arm64", () => {
    expect(threadOffset(image(256, 64), 8, x64)).toBe(8 - 256);
    expect(threadOffset(image(256, 64), 8, arm64)).toBe(8 + 64);
  });

  test("the executable's block must come last on x86-64", () => {
    const block = threadBlock(image(100, 16), x64);
    expect(() => checkThreadBlock(image(64 + 128, 64), 64, block, x64)).not.toThrow();
    expect(() => checkThreadBlock(image(64 + 128, 64), 0, block, x64)).toThrow(/must lie at -112 .* puts them at -176/);
  });

  test("the executable's block must come first on arm64, and the runtime may not need a larger alignment", () => {
    const block = threadBlock(image(100, 8), arm64);
    expect(() => checkThreadBlock(image(200, 16), 0, block, arm64)).not.toThrow();
    expect(() => checkThreadBlock(image(200, 64), 0, block, arm64)).toThrow(/must lie at 16 .* puts them at 64/);
  });
});
