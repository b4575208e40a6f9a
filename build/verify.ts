import {
  alignUp,
  type Elf,
  hex,
  memoryAt,
  readElf,
  type Segment,
  segmentFlag,
  segmentOf,
  segmentsOf,
  segmentType,
} from "./link/elf.ts";
import { type Relocation, readDynamic } from "./link/elf-dynamic.ts";
import { symbolKind } from "./link/elf-symbols.ts";
import type { Patch } from "./link/relocate.ts";
import { relroPages } from "./link/relro.ts";
import type { Target } from "./targets.ts";

type VerifyInput = {
  /** The dynamically linked executable from which `output` was made. */
  readonly input: Uint8Array;
  /** The static executable. */
  readonly output: Uint8Array;
  /** What the link wrote for each relocation of the input, in their order. */
  readonly patches: readonly Patch[];
  readonly target: Target;
};

/**
 * Checks that the output is a static executable in which every relocation of the input was applied, that it is as
 * protected as the input, and that no two segments share a page. @throws Error that lists all that is wrong
 */
export function verify({ input, output, patches, target }: VerifyInput): void {
  const before = readElf(input, "input");
  const after = readElf(output, "output");
  const wrong = [
    ...loaderWrongs(after),
    ...protectionWrongs(after),
    ...relroWrongs(before, after, target),
    ...overlapWrongs(after, target),
    ...stackWrongs(before, after),
    ...relocationWrongs(before, after, patches),
  ];
  if (wrong.length > 0) throw new Error(`the linked executable is not what it must be:\n  ${wrong.join("\n  ")}`);
}

function loaderWrongs(elf: Elf): string[] {
  const forbidden = [
    [segmentType.interp, "PT_INTERP"],
    [segmentType.dynamic, "PT_DYNAMIC"],
  ] as const;
  return forbidden.flatMap(([type, name]) =>
    segmentsOf(elf, type).length > 0 ? [`it has ${name}, so it asks for a dynamic loader`] : [],
  );
}

function protectionWrongs(elf: Elf): string[] {
  const both = segmentFlag.write | segmentFlag.execute;
  return segmentsOf(elf, segmentType.load)
    .filter(({ flags }) => (flags & both) === both)
    .map(({ address }) => `the segment at ${hex(address)} is both writable and executable`);
}

function relroWrongs(before: Elf, after: Elf, { pageSize }: Target): string[] {
  const pages = relroPages(before, pageSize);
  if (pages === undefined) return [];
  return segmentsOf(after, segmentType.load)
    .filter(({ address, memorySize }) => address < pages.end && pages.start < address + memorySize)
    .filter(({ flags }) => (flags & segmentFlag.write) !== 0)
    .map(
      ({ address }) => `the segment at ${hex(address)} is writable, the input's PT_GNU_RELRO says that it must not be`,
    );
}

/** Names the segments that share a page: the kernel maps whole pages. */
function overlapWrongs(elf: Elf, { pageSize }: Target): string[] {
  const loads = segmentsOf(elf, segmentType.load).toSorted((one, other) => one.address - other.address);
  return loads.slice(1).flatMap((load, index) => {
    const previous = loads[index] as Segment;
    const end = alignUp(previous.address + previous.memorySize, pageSize);
    const start = load.address - (load.address % pageSize);
    return start < end ? [`the segments at ${hex(previous.address)} and ${hex(load.address)} share a page`] : [];
  });
}

/** Compares PT_GNU_STACK: musl takes the size of threads' stacks from it, and without it stacks are executable. */
function stackWrongs(before: Elf, after: Elf): string[] {
  const wanted = segmentOf(before, segmentType.stack);
  const stack = segmentOf(after, segmentType.stack);
  if (stack === undefined) return ["it has no PT_GNU_STACK"];
  if ((stack.flags & segmentFlag.execute) !== 0) return ["PT_GNU_STACK asks for an executable stack"];
  if (stack.memorySize === wanted?.memorySize) return [];
  return [`PT_GNU_STACK asks for ${stack.memorySize} bytes, the input's for ${wanted?.memorySize ?? "none"}`];
}

function relocationWrongs(before: Elf, after: Elf, patches: readonly Patch[]): string[] {
  const { relocations } = readDynamic(before);
  if (relocations.length !== patches.length)
    return [`${relocations.length} relocations in the input, but ${patches.length} were applied`];
  return relocations.flatMap((relocation, index) => {
    const patch = patches[index] as Patch;
    const wrong = relocationWrong(relocation, patch, after);
    return wrong === undefined ? [] : [`the relocation of "${patch.symbol}" at ${hex(relocation.at)} ${wrong}`];
  });
}

function relocationWrong({ at, symbol }: Relocation, patch: Patch, after: Elf): string | undefined {
  if (at !== patch.at) return `was applied at ${hex(patch.at)}`;
  const there = memoryAt(after, at, patch.bytes.length);
  if (Buffer.compare(there, patch.bytes) !== 0) return "is not in the output";
  if (patch.kind !== "absolute" && patch.kind !== "jump") return undefined;
  const value = Number(new DataView(there.buffer, there.byteOffset).getBigUint64(0, true));
  if (value === 0) return symbol?.weak === false ? "was filled with 0, and the symbol is not weak" : undefined;
  const load = segmentsOf(after, segmentType.load).find(
    ({ address, memorySize }) => address <= value && value <= address + memorySize,
  );
  if (load === undefined) return `was filled with ${hex(value)}, where nothing is loaded`;
  const isCode = patch.kind === "jump" || symbol?.kind === symbolKind.code;
  return isCode && (load.flags & segmentFlag.execute) === 0
    ? `was filled with ${hex(value)}, where no code is`
    : undefined;
}
