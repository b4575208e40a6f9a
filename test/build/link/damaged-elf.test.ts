import { describe, expect, setDefaultTimeout, test } from "bun:test";
import fc from "fast-check";
import { composeExecutable } from "../../../build/bundle/compose.ts";
import { type Elf, memoryAt, readElf, segmentOf, segmentType } from "../../../build/link/elf.ts";
import { readDynamic } from "../../../build/link/elf-dynamic.ts";
import { readSymbols, symbolTable } from "../../../build/link/elf-symbols.ts";
import { resolveRelocations } from "../../../build/link/relocate.ts";
import { linkRuntime } from "../../../build/link/runtime.ts";
import { threadBlock } from "../../../build/link/thread-local.ts";
import { verify } from "../../../build/verify.ts";
import { dynamicProgram, everything, link, sources, x64 } from "./small-elf.ts";

setDefaultTimeout(300_000); // seconds suffice, but not where a machine stands still

const program = dynamicProgram({ source: everything });
const image = readElf(program, "small");
const blockOf = (elf: Elf) => threadBlock(segmentOf(elf, segmentType.thread), x64);
const runtime = linkRuntime({ image, dynamic: readDynamic(image), block: blockOf(image), sources, target: x64 });
const symbols = readSymbols(runtime.elf, symbolTable.all);
const reserved =
  (segmentOf(runtime.elf, segmentType.thread)?.address ?? 0) + (symbols.get("ebb_image_block")?.value ?? 0);

/** All that linkStatic does, but for ld: the runtime is that of the program as it was. */
function linkWithoutLd(bytes: Uint8Array): void {
  const elf = readElf(bytes, "small");
  const { relocations } = readDynamic(elf);
  readSymbols(elf, symbolTable.dynamic);
  const block = blockOf(elf);
  const linked = {
    symbols,
    shared: runtime.shared,
    memoryAt: (address: number, size: number) => memoryAt(runtime.elf, address, size),
    isWritable: () => false,
    threadOffset: (value: number) => value,
    imageThreadBase: block.base,
    lacking: [],
  };
  const patches = resolveRelocations(relocations, linked, x64);
  const output = composeExecutable({
    image: elf,
    runtime: runtime.elf,
    patches,
    block,
    blockAddress: reserved,
    entry: elf.entry,
    pageSize: 0x1000,
  });
  verify({ input: bytes, output, patches, target: x64 });
}

/** What an attempt came to; a crash of the linker is an error of the test. */
function outcome(work: () => unknown): "linked" | "refused" {
  try {
    work();
    return "linked";
  } catch (error) {
    if ((error as Error).constructor !== Error || (error as Error).message === "") throw error;
    return "refused";
  }
}

describe("linked to what can be verified, or refused in words, is", () => {
  test("the program as it was", () => {
    expect(outcome(() => linkWithoutLd(program))).toBe("linked");
  });

  test("a file that ends too soon, wherever", () => {
    const end = Math.max(...image.segments.map(({ offset, fileSize }) => offset + fileSize));
    for (let length = 0; length < program.length; length++) {
      const isLinked = outcome(() => linkWithoutLd(program.slice(0, length))) === "linked";
      if (isLinked && length < end) throw new Error(`linked, though cut off at ${length} of ${end}`);
    }
  });

  const sections = Number(new DataView(program.buffer, program.byteOffset).getBigUint64(40, true));
  const dynamic = segmentOf(image, segmentType.dynamic)?.offset ?? 0;

  test.each([
    ["its header, program headers, symbols and relocations", 0, 0x800],
    ["its dynamic table", dynamic, dynamic + 0x200],
    ["its section headers", sections, program.length],
  ])("a file in which any byte is another: %s", (_, from, to) => {
    const changed = program.slice();
    const outcomes = { linked: 0, refused: 0 };
    for (let at = from; at < to; at++) {
      const value = changed[at] ?? 0;
      for (const other of [0, 0x7f, 0xff, value ^ 1, value ^ 0x10]) {
        changed[at] = other;
        outcomes[outcome(() => linkWithoutLd(changed))] += 1;
      }
      changed[at] = value;
    }
    expect(Math.min(outcomes.linked, outcomes.refused)).toBeGreaterThan(10);
  });

  test("a file in which several are, by ld too", () => {
    const place = fc.oneof(fc.nat(0x700), fc.integer({ min: dynamic, max: dynamic + 0x1c0 }));
    const changes = fc.array(fc.tuple(place, fc.nat(255)), { minLength: 1, maxLength: 3 });
    const property = fc.property(changes, (pairs) => {
      const changed = program.slice();
      for (const [at, value] of pairs) changed[at] = value;
      outcome(() => link(changed));
    });
    fc.assert(property, { numRuns: 40, seed: 1 });
  });
});
