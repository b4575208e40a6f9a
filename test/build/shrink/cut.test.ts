import { describe, expect, test } from "bun:test";
import { readElf, segmentFlag, segmentsOf, segmentType } from "../../../build/link/elf.ts";
import { loaderTables } from "../../../build/link/loader-tables.ts";
import { cutDeadPages } from "../../../build/shrink/cut.ts";
import type { Range } from "../../../build/shrink/range.ts";
import { verify } from "../../../build/verify.ts";
import { dynamicProgram, execute, link, x64 } from "../link/small-elf.ts";

/** Constants with something that nothing reads in their middle, and variables with many zeros in theirs. */
const source = `
#include <stdio.h>
#include <string.h>
#define HALF 300000
const struct { char first[16], dead[HALF], last[16]; } constants = {"the first", {[0 ... HALF - 1] = 'x'}, "the last"};
static volatile struct { char first[16], zeros[HALF], last[16]; } variables = {"one", {0}, "two"};
int main(int count, char **arguments) {
  for (int i = 0; i < HALF; i++) if (variables.zeros[i]++ != 0) return 1;
  for (int i = 0; i < HALF; i++) if (variables.zeros[i] != 1) return 2;
  printf("%s, %s, %s, %s\\n", (char *)constants.first, (char *)constants.last, (char *)variables.first, (char *)variables.last);
  const volatile char *dead = constants.dead;
  if (count == 2) printf("%d\\n", dead[HALF / 2]);
  return 0;
}`;

describe("cutDeadPages()", () => {
  const input = dynamicProgram({ source });
  const { bytes, patches } = link(input);
  const elf = readElf(bytes, "linked");
  const tables = loaderTables(readElf(input, "input"), elf);
  const room = tables.to - elf.segmentsOffset;
  const dead = rangeOf(bytes, "x".repeat(300_000));
  const small = cutDeadPages({ elf, dead: [dead], room, target: x64 });
  const loads = segmentsOf(readElf(small, "small"), segmentType.load);
  const said = "the first, the last, one, two\n";

  test("leaves out pages that are dead, and pages of variables that are zero at first", () => {
    expect(bytes.length - small.length).toBeGreaterThan(580_000);
    expect(loads).toHaveLength(segmentsOf(elf, segmentType.load).length + 2);
    verify({ input, output: small, patches, target: x64 });
    expect(execute(bytes)).toMatchObject({ status: 0, stdout: said });
    expect(execute(small)).toMatchObject({ status: 0, stdout: said });
  });

  test("maps nothing where dead pages were, and zeros where zeros were", () => {
    expect(execute(bytes, "read")).toMatchObject({ status: 0, stdout: `${said}120\n` });
    expect(execute(small, "read")).toMatchObject({ signal: "SIGSEGV" });
    const grown = loads.filter(
      ({ flags, memorySize, fileSize }) => (flags & segmentFlag.write) === 0 && memorySize !== fileSize,
    );
    expect(grown).toEqual([]);
  });

  test("keeps the page of what is not dead, down to the byte", () => {
    const inside = cutDeadPages({ elf, dead: [{ from: dead.from + 1, to: dead.to - 1 }], room, target: x64 });
    for (const kept of ["the first", "the last"]) expect(Buffer.from(inside).includes(kept)).toBe(true);
    const few = cutDeadPages({ elf, dead: [{ from: dead.from, to: dead.from + 0xffff }], room, target: x64 });
    expect(segmentsOf(readElf(few, "few"), segmentType.load)).toHaveLength(loads.length - 1);
  });

  test("with 64 KiB pages cuts at their borders", () => {
    const large = cutDeadPages({ elf, dead: [dead], room, target: { ...x64, pageSize: 0x1_0000 } });
    for (const { address, offset } of segmentsOf(readElf(large, "large"), segmentType.load))
      expect((address - offset) % 0x1_0000).toBe(0);
  });

  test("refuses what its program headers have no room for", () => {
    expect(() => cutDeadPages({ elf, dead: [dead], room: 56 * elf.segments.length, target: x64 })).toThrow(
      /program headers are needed/,
    );
  });
});

test("the loader's tables end where something else begins, and are as the link found them", () => {
  const input = dynamicProgram({ source });
  const { bytes } = link(input);
  const tables = loaderTables(readElf(input, "input"), readElf(bytes, "linked"));
  const text = Buffer.from(input).toString("latin1", tables.from, tables.to);
  for (const name of ["ld-linux", "printf", "libc.so"]) expect(text).toContain(name);
  expect(execute(bytes.slice().fill(0, tables.from, tables.to))).toMatchObject({ status: 0 });
  bytes[tables.to - 1] = 1 + (bytes[tables.to - 1] ?? 0);
  expect(() => loaderTables(readElf(input, "input"), readElf(bytes, "linked"))).toThrow(/is not the loader's tables/);
});

function rangeOf(bytes: Uint8Array, text: string): Range {
  const from = Buffer.from(bytes).indexOf(text);
  return { from, to: from + text.length };
}
