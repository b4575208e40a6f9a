import { describe, expect, test } from "bun:test";
import { readElf, segmentOf, segmentsOf, segmentType, writeSegments } from "../../../build/link/elf.ts";
import { readDynamic } from "../../../build/link/elf-dynamic.ts";
import { smallProgram } from "./small-elf.ts";

const program = smallProgram();

const at =
  (offset: number, ...values: number[]) =>
  (bytes: Uint8Array) =>
    bytes.set(values, offset);
const dynamicOffset = (bytes: Uint8Array) => segmentOf(readElf(bytes, "small"), segmentType.dynamic)?.offset ?? 0;
/** Changes the value, or the tag, of one entry of the dynamic table. */
const tag = (key: number, change: { value?: number; tag?: number }) => (bytes: Uint8Array) => {
  const fields = new DataView(bytes.buffer, bytes.byteOffset);
  for (let entry = dynamicOffset(bytes); ; entry += 16) {
    if (fields.getUint8(entry) !== key) continue;
    if (change.value !== undefined) fields.setBigUint64(entry + 8, BigInt(change.value), true);
    if (change.tag !== undefined) fields.setBigUint64(entry, BigInt(change.tag), true);
    return;
  }
};
const fillDynamic = (bytes: Uint8Array) => bytes.fill(1, dynamicOffset(bytes), dynamicOffset(bytes) + 0x1000);
const firstSegment = (field: number, ...values: number[]) => at(64 + field, ...values);

describe("malformed input is refused with what is wrong:", () => {
  test.each<[string, (bytes: Uint8Array) => unknown, RegExp]>([
    ["no ELF magic number", at(0, 0), /small: not an ELF file/],
    ["a 32-bit file", at(4, 1), /expected 64-bit little-endian ELF, got class 1, data 1/],
    ["a big-endian file", at(5, 2), /expected 64-bit little-endian ELF, got class 2, data 2/],
    ["program headers of an odd size", at(54, 55), /expected program headers of 56 bytes, got 55/],
    ["a program header table behind the end", at(34, 255), /program header table .* ends after the file/],
    ["an address that no number can hold", at(31, 255), /out of range/],
    ["a segment behind the end", firstSegment(11, 1), /content of program header 0 .* ends after the file/],
    [
      "a segment with more bytes in the file than in memory",
      (bytes) => [firstSegment(0, 1)(bytes), firstSegment(40, 1, 0)(bytes)],
      /program header 0 has more bytes in the file than in memory/,
    ],
    ["a segment beyond the memory of any process", firstSegment(46, 1), /header 0 is for memory that no process has/],
    ["a dynamic table without an end", fillDynamic, /out of range|no end mark/],
    ["a string table that is not loaded", tag(5, { value: 0x10 }), /no segment loads the \d+ bytes at address 0x10/],
    ["a symbol table that is not loaded", tag(6, { value: 0x10 }), /no segment loads the 24 bytes/],
    [
      "a string table that is too short for its names",
      tag(10, { value: 1 }),
      /lies outside the string table of 1 bytes/,
    ],
    ["relocations that are cut off", tag(2, { value: 25 }), /relocation table of 25 bytes is no multiple of 24/],
    ["packed relocations", tag(12, { tag: 36 }), /uses packed relocations \(DT_RELR\)/],
    ["a tag that nobody knows", tag(21, { tag: 0x6000_000d }), /dynamic tags that .* does not know: 0x6000000d/],
    ["relocations without addend", tag(20, { value: 17 }), /PLT relocations without addend/],
  ])("%s", (_, damage, message) => {
    const bytes = program.slice();
    damage(bytes);
    const read = () => readDynamic(readElf(bytes, "small"));
    expect(read).toThrow(message);
  });

  test("a static executable has no dynamic table", () => {
    const bytes = program.slice();
    const elf = readElf(bytes, "small");
    writeSegments(bytes, elf, segmentsOf(elf, segmentType.load));
    expect(() => readDynamic(readElf(bytes, "small"))).toThrow("linked statically already");
  });
});
