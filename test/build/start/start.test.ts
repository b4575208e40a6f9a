import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { readElf, segmentFlag, segmentsOf, segmentType } from "../../../build/link/elf.ts";
import { linkStatic } from "../../../build/link/link-static.ts";
import { fetchMuslBun } from "../../../build/link/musl-bun.ts";
import type { Range } from "../../../build/shrink/range.ts";
import { encodePageRuns, insertStartCode, type StartCode } from "../../../build/start/start.ts";
import recorded from "../../../build/start/start-pages.json" with { type: "json" };
import { buildId } from "../../../build/start/start-pages.ts";
import { type Target, targetNamed, targets } from "../../../build/targets.ts";
import { dynamicProgram, everything, execute, executeOn, sources, x64 } from "../link/small-elf.ts";

const project = resolve(import.meta.dirname, "../../..");
const native = ["entry.c", "pages.c"].map((name) => join(project, "src", "native", name));
const said = { status: 3, signal: null, stdout: "entered\nargument\n43 0 1 0 1\nleft\n", stderr: "" };

/** A small program with the code that runs first; the tables for the loader, where that goes, are not needed any more. */
function linkedWithStart(
  source = everything,
  target: Target = x64,
): { readonly bytes: Uint8Array; readonly start: StartCode } {
  const input = dynamicProgram({ source, target, linkOptions: ["-Wl,-z,separate-code"] });
  const { bytes, start } = linkStatic({ bytes: input, name: "small", sources: [...sources, ...native], target });
  if (start === undefined) throw new Error("nothing is there that runs first");
  return { bytes, start };
}

function withoutTables(bytes: Uint8Array): Uint8Array {
  const emptied = new Uint8Array(bytes);
  const [first] = segmentsOf(readElf(bytes, "small"), segmentType.load);
  return emptied.fill(0, 0x800, first?.fileSize);
}

describe("a program with code that asks for pages first", () => {
  const { bytes, start } = linkedWithStart();
  const input = { bytes: withoutTables(bytes), start, pageSize: x64.pageSize };
  const code = segmentsOf(readElf(bytes, "small"), segmentType.load).find(({ flags }) => flags & segmentFlag.execute);
  const touched: Range[] = [{ from: code?.address ?? 0, to: (code?.address ?? 0) + 0x1000 }];

  test("starts in the page of its program headers, the one that the kernel has read by then", () => {
    const elf = readElf(insertStartCode({ ...input, touched }), "output");
    const [headers] = segmentsOf(elf, segmentType.load);
    expect(headers).toMatchObject({ offset: 0, fileSize: 0x1000, flags: segmentFlag.read | segmentFlag.execute });
    expect(elf.entry - (headers?.address ?? 0)).toBe(0x800);
  });

  test("does what it did, whether pages are known or none", () => {
    expect(execute(insertStartCode({ ...input, touched }), "argument")).toEqual(said);
    expect(execute(insertStartCode({ ...input, touched: [] }), "argument")).toEqual(said);
  });

  test("keeps its arguments on arm64, whose pages may be of 64 KiB", () => {
    const arm64 = targetNamed("arm64");
    const source = "#include <stdio.h>\nint main(int count, char **words) { puts(words[1]); return count; }";
    const other = linkedWithStart(source, arm64);
    const touched = [{ from: other.start.address - 0x800, to: other.start.address }];
    const output = insertStartCode({ ...other, bytes: withoutTables(other.bytes), touched, pageSize: arm64.pageSize });
    const said = { status: 2, signal: null, stdout: "argument\n", stderr: "" };
    expect(executeOn(arm64, output, ["argument"])).toEqual(said);
    expect(readElf(output, "output").entry % arm64.pageSize).toBe(0x800);
  });

  test("is refused where something else is in the place of the code", () => {
    const taken = new Uint8Array(input.bytes).fill(1, 0x810, 0x811);
    expect(() => insertStartCode({ ...input, bytes: taken, touched })).toThrow("is something already");
  });

  test("is refused where the table of pages is too small", () => {
    const many = Array.from({ length: 600 }, (_, index) => ({ from: index * 0x2000, to: index * 0x2000 + 0x1000 }));
    expect(() => insertStartCode({ ...input, touched: many })).toThrow("the table of 600 runs of pages");
  });
});

test.each<[string, readonly [number, number][], readonly number[]]>([
  ["no runs", [], []],
  ["a run at the beginning", [[0x20_0000, 0x20_1000]], [0, 1]],
  ["pages that are only touched in part", [[0x20_1fff, 0x20_2001]], [1, 2]],
  [
    "two runs",
    [
      [0x20_1000, 0x20_2000],
      [0x20_4000, 0x20_6000],
    ],
    [1, 1, 2, 2],
  ],
  ["a run of more than 128 KiB", [[0x20_1000, 0x24_2000]], [1, 32, 0, 32, 0, 1]],
  ["more than 255 pages without one", [[0x40_0000, 0x40_1000]], [255, 0, 255, 0, 2, 1]],
])("%s are bytes for pages that are left out, and touched", (_, runs, bytes) => {
  const touched = runs.map(([from, to]) => ({ from, to }));
  expect(encodePageRuns(touched, 0x20_0000)).toEqual([...bytes]);
});

test.each([...targets])("what a start touches is recorded for the pinned Bun for $name", (target) => {
  const bun = readFileSync(fetchMuslBun(target, join(project, "package-lock.json")));
  expect(Object.keys(recorded)).toContain(buildId(readElf(bun, "Bun")));
});
