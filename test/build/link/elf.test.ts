import { describe, expect, test } from "bun:test";
import { memoryAt, readElf, segmentsOf, segmentType, writeSegments } from "../../../build/link/elf.ts";
import { readDynamic } from "../../../build/link/elf-dynamic.ts";
import { readSymbols, symbolKind, symbolTable } from "../../../build/link/elf-symbols.ts";
import { smallProgram } from "./small-elf.ts";

const program = smallProgram();

describe("a program that gcc and ld made", () => {
  test("is read as an executable for x86-64 whose entry lies in the one segment that may be executed", () => {
    const elf = readElf(program, "small");
    expect([elf.type, elf.machine]).toEqual([2, 62]);
    const code = segmentsOf(elf, segmentType.load).filter(({ flags }) => (flags & 1) !== 0);
    expect(code).toHaveLength(1);
    expect(elf.entry).toBeWithin(code[0]?.address ?? 0, (code[0]?.address ?? 0) + (code[0]?.memorySize ?? 0));
  });

  test("has the symbols that its source defines, with their initial values in memory", () => {
    const elf = readElf(program, "small");
    const symbols = readSymbols(elf, symbolTable.dynamic);
    const exported = symbols.get("exported");
    expect(exported).toMatchObject({ size: 4, kind: symbolKind.object, weak: false, defined: true });
    expect([...memoryAt(elf, exported?.value ?? 0, 4)]).toEqual([7, 0, 0, 0]);
    expect(symbols.has("puts")).toBe(false);
  });

  test("reads as zeros where memory is larger than the file", () => {
    const elf = readElf(program, "small");
    const zeros = readSymbols(elf, symbolTable.all).get("zeros");
    expect(memoryAt(elf, zeros?.value ?? 0, 10_000)).toEqual(new Uint8Array(10_000));
  });

  test("names the libraries and symbols that it needs, and which of them it can do without", () => {
    const { needed, relocations } = readDynamic(readElf(program, "small"));
    expect(needed.some((name) => name.startsWith("libc."))).toBe(true);
    const undefinedOnes = new Map(
      relocations.flatMap(({ symbol }) => (symbol && !symbol.defined ? [[symbol.name, symbol.weak]] : [])),
    );
    expect(undefinedOnes.get("puts")).toBe(false);
    expect(undefinedOnes.get("weak_one")).toBe(true);
  });

  test("has after writing the segments that were written, and no section headers", () => {
    const bytes = program.slice();
    const elf = readElf(bytes, "small");
    const kept = segmentsOf(elf, segmentType.load);
    writeSegments(bytes, elf, kept);
    expect(readElf(bytes, "small").segments).toEqual([...kept]);
    expect(() => readSymbols(readElf(bytes, "small"), symbolTable.all)).toThrow("no symbol table");
  });

  test("has no room for more segments than before", () => {
    const elf = readElf(program.slice(), "small");
    const [first] = elf.segments;
    if (first === undefined) throw new Error("no segments");
    expect(() => writeSegments(elf.bytes, elf, [...elf.segments, first])).toThrow(
      /program headers are needed, there is room for/,
    );
  });
});
