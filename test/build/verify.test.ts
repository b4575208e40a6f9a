import { describe, expect, test } from "bun:test";
import { fileOffset, readElf, type Segment, segmentOf, segmentType, writeSegments } from "../../build/link/elf.ts";
import type { Patch } from "../../build/link/relocate.ts";
import { verify } from "../../build/verify.ts";
import { dynamicProgram, everything, link, x64 } from "./link/small-elf.ts";

const input = dynamicProgram({ source: everything });
const { bytes, patches } = link(input);

const wrongs = (output: Uint8Array, applied: readonly Patch[] = patches) => {
  return () => verify({ input, output, patches: applied, target: x64 });
};

test("verify accepts what the link made", () => {
  expect(wrongs(bytes)).not.toThrow();
});

describe("verify finds, in program headers that were changed,", () => {
  const only = (type: number, changed: Partial<Segment>) => (all: readonly Segment[]) =>
    all.map((each) => (each.type === type ? { ...each, ...changed } : each));

  test.each<[string, (segments: readonly Segment[]) => readonly Segment[], RegExp]>([
    ["a loader that is asked for", only(segmentType.frames, { type: segmentType.interp }), /it has PT_INTERP/],
    ["a dynamic table", only(segmentType.frames, { type: segmentType.dynamic }), /it has PT_DYNAMIC/],
    ["a segment to write and execute", only(segmentType.load, { flags: 7 }), /both writable and executable/],
    ["no PT_GNU_STACK", (all) => all.filter(({ type }) => type !== segmentType.stack), /it has no PT_GNU_STACK/],
    ["an executable stack", only(segmentType.stack, { flags: 7 }), /asks for an executable stack/],
    ["another stack size", only(segmentType.stack, { memorySize: 1 }), /PT_GNU_STACK asks for 1 bytes/],
    ["segments on one page", only(segmentType.load, { memorySize: 0x40_0000 }), /share a page/],
  ])("%s", (_, change, message) => {
    const output = bytes.slice();
    const elf = readElf(output, "output");
    writeSegments(output, elf, change(elf.segments));
    expect(wrongs(output)).toThrow(message);
  });
});

describe("verify finds, among the relocations,", () => {
  const written = patches.filter((patch) => patch.bytes.length > 0);

  test.each(written)("that of $symbol when its bytes in the output were changed", ({ at, symbol, bytes: word }) => {
    const output = bytes.slice();
    const offset = fileOffset(readElf(output, "output"), at, word.length);
    output[offset] = (output[offset] ?? 0) ^ 0xff;
    expect(wrongs(output)).toThrow(`"${symbol}" at 0x${at.toString(16)} is not in the output`);
  });

  test("one that was left out", () => {
    expect(wrongs(bytes, patches.slice(1))).toThrow(/but \d+ were applied/);
  });

  const filled = (address: number): (() => void) => {
    const word = new Uint8Array(8);
    new DataView(word.buffer).setBigUint64(0, BigInt(address), true);
    const slot = patches.find(({ kind }) => kind === "jump");
    const output = bytes.slice();
    output.set(word, fileOffset(readElf(output, "output"), slot?.at ?? 0, 8));
    return wrongs(
      output,
      patches.map((patch) => (patch === slot ? { ...patch, bytes: word } : patch)),
    );
  };

  test("a function's slot that holds the address of data", () => {
    expect(filled(segmentOf(readElf(bytes, "output"), segmentType.thread)?.address ?? 0)).toThrow(/where no code is/);
  });

  test("a function's slot that holds the address of nothing", () => {
    expect(filled(0x10)).toThrow(/where nothing is loaded/);
  });

  test("a function's slot that holds zero", () => {
    expect(filled(0)).toThrow(/filled with 0, and the symbol is not weak/);
  });
});
