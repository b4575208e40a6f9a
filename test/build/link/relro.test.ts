import { describe, expect, test } from "bun:test";
import {
  type Elf,
  readElf,
  type Segment,
  segmentFlag,
  segmentOf,
  segmentType,
  writeSegments,
} from "../../../build/link/elf.ts";
import { protectedLoads } from "../../../build/link/relro.ts";
import { verify } from "../../../build/verify.ts";
import { dynamicProgram, execute, link, x64 } from "./small-elf.ts";

const { read, write } = segmentFlag;

describe("a program whose linker asked for relocations that are read-only at last", () => {
  const source = `#include <stdio.h>
const char *const texts[] = {"one", "two"};
int (*const calls[])(const char *) = {puts};
int later = 4, zeros[3000];
int main(int count, char **arguments) {
  calls[0](texts[1]);
  later += ++zeros[2999];
  if (count > 1) *(const char *volatile *)&texts[0] = arguments[0];
  return later;
}`;
  const input = dynamicProgram({ source, compileOptions: ["-fPIC"], linkOptions: ["-Wl,-z,relro,-z,now"] });
  const { bytes, patches } = link(input);

  test("has them read-only from the start, and all else as before", () => {
    expect(segmentOf(readElf(input, "input"), segmentType.relro)).toBeDefined();
    expect(execute(bytes)).toMatchObject({ status: 5, stdout: "two\n" });
    expect(execute(bytes, "write").signal).toBe("SIGSEGV");
    expect(() => verify({ input, output: bytes, patches, target: x64 })).not.toThrow();
  });

  test("is found out where they stay writable", () => {
    const output = bytes.slice();
    const elf = readElf(output, "output");
    const isLinked = (segment: Segment) => segment.type === segmentType.load && segment.flags === read;
    writeSegments(
      output,
      elf,
      elf.segments.map((segment) => (isLinked(segment) ? { ...segment, flags: read | write } : segment)),
    );
    expect(() => verify({ input, output, patches, target: x64 })).toThrow(/writable, the input's PT_GNU_RELRO says/);
  });
});

describe("of a writable segment that is loaded at 0x1100 from 0x100 of the file", () => {
  const load: Segment = {
    type: segmentType.load,
    flags: read | write,
    offset: 0x100,
    address: 0x1100,
    fileSize: 0x3000,
    memorySize: 0x6000,
    align: 0x1000,
  };
  const loads = (relro: Partial<Segment> | undefined) => {
    const segments = relro ? [load, { ...load, ...relro, type: segmentType.relro }] : [load];
    return protectedLoads({ name: "small", segments } as unknown as Elf, 0x1000);
  };
  const part = (flags: number, offset: number, address: number, fileSize: number, memorySize: number): Segment => ({
    ...load,
    ...{ flags, offset, address, fileSize, memorySize },
  });

  test.each<[string, Partial<Segment> | undefined, Segment[]]>([
    ["nothing is read-only without PT_GNU_RELRO", undefined, [load]],
    [
      "its first pages are",
      { memorySize: 0x1f00 },
      [part(read, 0x100, 0x1100, 0x1f00, 0x1f00), part(read | write, 0x2000, 0x3000, 0x1100, 0x4100)],
    ],
    [
      "a page stays writable that is so only in part",
      { memorySize: 0x1f01 },
      [part(read, 0x100, 0x1100, 0x1f00, 0x1f00), part(read | write, 0x2000, 0x3000, 0x1100, 0x4100)],
    ],
    ["one page in part is none", { memorySize: 0x80 }, [load]],
    [
      "zeros are, which the file does not hold",
      { memorySize: 0x3f00 },
      [part(read, 0x100, 0x1100, 0x3000, 0x3f00), part(read | write, 0x3100, 0x5000, 0, 0x2100)],
    ],
    ["all is where it ends with whole pages, as lld lays it out", { memorySize: 0x6f00 }, [{ ...load, flags: read }]],
    ["pages of no segment are left alone", { address: 0x9000 }, [load]],
  ])("%s", (_, relro, expected) => {
    expect(loads(relro)).toEqual(expected);
  });
});
