import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { reachCode } from "../../build/code-reach.ts";
import { readCodeReferences } from "../../build/code-references.ts";
import { readElf, segmentsOf, segmentType } from "../../build/elf.ts";
import { findUnreached } from "../../build/find-unreached.ts";
import { muslBun } from "../../build/musl-bun.ts";
import table from "../../build/unreached.json" with { type: "json" };
import { findUnreachedCode } from "../../build/unreached.ts";
import { ebbPath, temporaryFolder } from "../harness.ts";
import { x64 } from "./small-elf.ts";

setDefaultTimeout(300_000);

const bun = muslBun(x64, resolve(import.meta.dirname, "../../package-lock.json"));

const program = `
  #define APART __attribute__((noinline))
  volatile int sink;
  APART void shared(void) { sink = 1; }
  APART void by_call(void) { sink = 2; shared(); }
  APART void by_table_1(void) { sink = 3; }
  APART void by_table_2(void) { sink = 4; }
  void (*const inside[])(void) = {by_table_1, by_table_2};
  APART void by_address(void) { sink = 5; }
  APART void open_by_table(void) { sink = 6; }
  void (*const outside[])(void) = {open_by_table, shared};
  __attribute__((visibility("default"))) APART void exported(void) { sink = 7; }
  APART void door(int which, void (**out)(void)) { by_call(); inside[which](); *out = by_address; }
  void _start(void) {
    void (*out)(void) = shared;
    if (sink > 8) door(sink, &out);
    out();
    outside[sink]();
    __asm__ volatile("syscall" : : "a"(60), "D"(0));
    for (;;) ;
  }
`;

describe("code that only some functions lead to", () => {
  using folder = temporaryFolder();
  const [source, path] = [join(folder.path, "program.c"), join(folder.path, "program")];
  writeFileSync(source, program);
  const flags = [
    "-O1",
    "-no-pie",
    "-fno-pic",
    "-nostartfiles",
    "-rdynamic",
    "-Wl,--no-as-needed",
    "-fcf-protection=none",
    "-fvisibility=hidden",
  ];
  const gcc = spawnSync("x86_64-linux-gnu-gcc", [...flags, "-o", path, source], {
    encoding: "utf8",
  });
  const symbols = spawnSync("x86_64-linux-gnu-nm", [path], { encoding: "utf8" }).stdout;
  const bytes = new Uint8Array(readFileSync(path));
  const references = readCodeReferences(path, { from: 0x400000, to: 0x410000 });

  function addressOf(name: string): number {
    return Number.parseInt(new RegExp(`^(\\w+) . ${name}$`, "m").exec(symbols)?.[1] ?? "", 16);
  }

  test("is what they call, or take the address of, themselves or in tables; not what another one leads to as well", async () => {
    expect(gcc.stderr).toBe("");
    const { behindDoors } = reachCode(readElf(bytes, path), await references, [addressOf("door")]);
    const isBehind = (name: string) =>
      behindDoors.some(({ from, to }) => from <= addressOf(name) && addressOf(name) < to);
    const behind = ["door", "by_call", "by_table_1", "by_table_2", "by_address"];
    const open = ["_start", "shared", "open_by_table", "exported"];
    expect([...behind, ...open].filter(isBehind)).toEqual(behind);
  });

  test("is asked for by where a function begins", async () => {
    const door = addressOf("door") + 1;
    const all = await references;
    expect(() => reachCode(readElf(bytes, path), all, [door])).toThrow("no function begins at");
  });
});

describe("of the pinned Bun", () => {
  test("the table has just the code to which nothing but developer tools leads, and hardly a reference is overlooked", async () => {
    const { missed, ...found } = await findUnreached(bun, table.doors);
    expect(found).toEqual(table);
    const codeSize = segmentsOf(readElf(new Uint8Array(readFileSync(bun)), bun), segmentType.load)[1]?.fileSize ?? 0;
    expect(missed).toBeLessThan(codeSize / 200);
  });

  test("another Bun keeps all its code", () => {
    const elf = readElf(new Uint8Array(readFileSync(bun)), bun);
    expect(findUnreachedCode(elf, elf, { ...table, code: "another" })).toEqual([]);
    expect(findUnreachedCode(elf, elf)).toHaveLength(table.ranges.length);
  });

  test("is not in ebb: who calls it is ended by a signal, not led astray", () => {
    const ebb = readElf(new Uint8Array(readFileSync(ebbPath)), ebbPath);
    const loads = segmentsOf(ebb, segmentType.load);
    const left = table.ranges.flatMap((range) => {
      const [from = 0, to = 0] = range.split("-").map((address) => Number.parseInt(address, 16));
      return loads.flatMap(({ address, offset, fileSize }) => {
        const [first, end] = [Math.max(from, address), Math.min(to, address + fileSize)];
        return first < end ? [ebb.bytes.subarray(first - address + offset, end - address + offset)] : [];
      });
    });
    expect(left.reduce((sum, bytes) => sum + bytes.length, 0)).toBeLessThan(2e6);
    expect(left.every((bytes) => bytes.every((byte) => byte === 0xcc))).toBe(true);
  });
});
