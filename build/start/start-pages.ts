import {
  alignUp,
  type Elf,
  readElf,
  type Segment,
  segmentFlag,
  segmentOf,
  segmentsOf,
  segmentType,
} from "../link/elf.ts";
import type { Range } from "../shrink/range.ts";
import { page } from "./start.ts";
import recorded from "./start-pages.json" with { type: "json" };

/** The largest gap between touched pages that is read with them, in bytes: one longer read costs less than two. */
const gap = 3 * page;

/**
 * Returns the addresses that `ebb run` touches until it has ended, in order and in whole pages: those of Bun as
 * record-start.ts has recorded them, all others as the layout tells. `input` is the executable before the link,
 * `output` the one after. Returns undefined if this Bun was not recorded.
 */
export function startPages(input: Uint8Array, output: Uint8Array): Range[] | undefined {
  const image = readElf(input, "input");
  const pages = (recorded as Readonly<Record<string, string>>)[buildId(image)];
  if (pages === undefined) return undefined;
  const elf = readElf(output, "executable");
  const loads = segmentsOf(elf, segmentType.load);
  const ranges = [...decodePages(pages), ...ownRanges(elf, image)];
  return loads.flatMap((load) => together(ranges.flatMap((range) => within(range, load))));
}

/**
 * Returns an executable's GNU build id in hexadecimal, or "" if it has none. It tells which Bun it is, for which
 * target.
 */
export function buildId(image: Elf): string {
  const note = segmentOf(image, segmentType.note);
  if (note === undefined) return "";
  const header = 16; // three sizes, "GNU\0"
  return Buffer.from(image.bytes.subarray(note.offset + header, note.offset + note.fileSize)).toString("hex");
}

/**
 * Formats runs of 4 KiB pages as text, the number of the first page in hexadecimal: `1f0+3` is 0x1f0000 to 0x1f3000.
 */
export function encodePages(ranges: readonly Range[]): string {
  return ranges
    .map(({ from, to }) => `${(from / page).toString(16)}${to - from === page ? "" : `+${(to - from) / page}`}`)
    .join(" ");
}

function decodePages(text: string): Range[] {
  return text.split(" ").map((run) => {
    const [first = "", count = "1"] = run.split("+");
    const from = Number.parseInt(first, 16) * page;
    return { from, to: from + Number(count) * page };
  });
}

/**
 * Returns the addresses of the data, of the runtime that the build has linked in, and of the bytecode that a start uses.
 */
function ownRanges(elf: Elf, image: Elf): Range[] {
  const end = Math.max(...segmentsOf(image, segmentType.load).map(({ address, memorySize }) => address + memorySize));
  return segmentsOf(elf, segmentType.load).flatMap((load) => {
    const { address, fileSize, memorySize, flags } = load;
    const isWritable = (flags & segmentFlag.write) !== 0;
    if (isWritable && fileSize === memorySize && address < end) return programRanges(elf, load);
    return isWritable || address >= end ? [{ from: address, to: address + fileSize }] : [];
  });
}

const trailer = Buffer.from("\n---- Bun! ----\n");

/**
 * Returns the parts of the compiled program that Bun reads: the bytecode of the entry point, which stands behind that of
 * all that it imports, and the tables at the end.
 */
function programRanges({ bytes }: Elf, { offset, address, fileSize }: Segment): Range[] {
  const held = Buffer.from(bytes.buffer, bytes.byteOffset + offset, fileSize);
  const end = held.lastIndexOf(trailer) - 32;
  const graph = end - Number(held.readBigUInt64LE(end));
  const modules = graph + held.readUInt32LE(end + 8);
  const entryPoint = modules + 52 * held.readUInt32LE(end + 16);
  return [
    {
      from: address + graph,
      to: address + graph + held.readUInt32LE(entryPoint + 24) + held.readUInt32LE(entryPoint + 28),
    },
    { from: address + modules, to: address + fileSize },
  ];
}

/** Returns the part of a range that a segment has in the file, in whole pages; empty if it has none. */
function within({ from, to }: Range, { address, fileSize }: Segment): Range[] {
  const start = Math.max(pageOf(from), pageOf(address));
  const end = alignUp(Math.min(to, address + fileSize), page);
  return start < end ? [{ from: start, to: end }] : [];
}

function pageOf(address: number): number {
  return address - (address % page);
}

/** Sorts ranges, and joins those whose distance is at most `gap`. */
function together(ranges: readonly Range[]): Range[] {
  const merged: Range[] = [];
  for (const range of ranges.toSorted((one, other) => one.from - other.from)) {
    const last = merged.at(-1);
    if (last === undefined || range.from - last.to > gap) merged.push(range);
    else merged[merged.length - 1] = { from: last.from, to: Math.max(last.to, range.to) };
  }
  return merged;
}
