import {
  alignUp,
  type Elf,
  fileOffset,
  hex,
  memoryAt,
  readElf,
  type Segment,
  segmentFlag,
  segmentsOf,
  segmentType,
  writeSegments,
} from "../link/elf.ts";
import { readSymbols, symbolTable } from "../link/elf-symbols.ts";
import type { Range } from "../shrink/range.ts";

/**
 * The offset, from the executable's first byte, of the code that runs first (src/native/pages.c): thirty headers fit
 * before.
 */
export const startOffset = 0x800;

/** The size of the pages that the table counts, in bytes: 4 KiB, the smallest that a kernel has. */
export const page = 0x1000;

/**
 * The longest run in the table, in pages: one request makes the kernel read a disk's read-ahead at most, usually 128
 * KiB.
 */
const largestRun = 32;

/** The code that runs before all else (src/native/pages.c), as the runtime's link has made it. */
export type StartCode = {
  /** The address of its first byte, which is also its first instruction. */
  readonly address: number;
  readonly code: Uint8Array;
  /** The addresses of the table of pages that the code reads; it is a part of `code`. */
  readonly table: Range;
};

/** Returns the code that runs first, or undefined if the runtime was linked without it. */
export function findStartCode(runtime: Elf): StartCode | undefined {
  const symbols = readSymbols(runtime, symbolTable.all);
  const entry = symbols.get("ebb_entry")?.value;
  const from = symbols.get("ebb_start_table")?.value;
  const to = symbols.get("ebb_start_table_end")?.value;
  if (entry === undefined || from === undefined || to === undefined) return undefined;
  return { address: entry, code: memoryAt(runtime, entry, to - entry).slice(), table: { from, to } };
}

export type StartInput = {
  /** The executable. */
  readonly bytes: Uint8Array;
  readonly start: StartCode;
  /** The addresses that a start touches, in order. */
  readonly touched: readonly Range[];
  readonly pageSize: number;
};

/**
 * Returns the executable with the code that runs first, and its table of pages, behind the program headers. `bytes`
 * stay as they are. @throws Error if something else is there, if the headers do not fit before it, or if the table is
 * too small
 */
export function insertStartCode({ bytes, start, touched, pageSize }: StartInput): Uint8Array {
  const before = readElf(bytes, "shrunk executable");
  const segments = executableHeaders(before, pageSize);
  const size = Math.max(bytes.length, ...segments.map(({ offset, fileSize }) => offset + fileSize));
  const output = new Uint8Array(size);
  output.set(bytes);
  writeSegments(output, before, segments, startOffset - before.segmentsOffset);
  const elf = { ...before, bytes: output, segments };
  const at = fileOffset(elf, start.address, start.code.length);
  if (output.subarray(at, at + start.code.length).some((byte) => byte !== 0))
    throw new Error(`${elf.name}: at ${hex(start.address)}, behind the program headers, is something already`);
  output.set(start.code, at);
  output.set(encodeTable(touched, elf, start), fileOffset(elf, start.table.from, start.table.to - start.table.from));
  return output;
}

/**
 * Makes the first page, that of the headers, executable, and lets data end with a page, so that the kernel has no zeros
 * to write there, for which it would have to read.
 */
function executableHeaders(elf: Elf, pageSize: number): Segment[] {
  const end = elf.bytes.length;
  return elf.segments.flatMap((segment) => {
    if (segment.type !== segmentType.load) return [segment];
    if (segment.offset === 0) return splitHeaders(segment, pageSize);
    const fileSize = alignUp(segment.address + segment.fileSize, pageSize) - segment.address;
    const isPadded = segment.offset + segment.fileSize === end && fileSize <= segment.memorySize;
    return [isPadded ? { ...segment, fileSize } : segment];
  });
}

function splitHeaders(segment: Segment, pageSize: number): Segment[] {
  const flags = segmentFlag.read | segmentFlag.execute;
  const headers = { ...segment, flags, fileSize: pageSize, memorySize: pageSize };
  if (segment.fileSize <= pageSize) return [headers];
  const { offset, address, fileSize, memorySize } = segment;
  const rest = { fileSize: fileSize - pageSize, memorySize: memorySize - pageSize };
  return [headers, { ...segment, ...rest, offset: offset + pageSize, address: address + pageSize }];
}

function encodeTable(touched: readonly Range[], elf: Elf, { table }: StartCode): Uint8Array {
  const encoded = encodePageRuns(touched, segmentsOf(elf, segmentType.load)[0]?.address ?? 0);
  const size = table.to - table.from;
  if (encoded.length + 2 <= size) return Uint8Array.from(encoded);
  const needed = `the table of ${touched.length} runs of pages needs ${encoded.length + 2} bytes`;
  throw new Error(`${elf.name}: ${needed}, it has ${size}`);
}

/**
 * Encodes runs of 4 KiB pages, in order of address, as src/native/pages.c reads them: two bytes for each run, the
 * number of pages between the end of the previous run (at first `address`) and this one, and its number of pages. A gap
 * of more than 255 pages, or a run of more than 32, becomes several pairs.
 */
export function encodePageRuns(touched: readonly Range[], address: number): readonly number[] {
  const encoded: number[] = [];
  let done = address / page;
  for (const { from, to } of touched) {
    let skipped = Math.floor(from / page) - done;
    let count = Math.ceil(to / page) - done - skipped;
    done += skipped + count;
    for (; skipped > 0xff; skipped -= 0xff) encoded.push(0xff, 0);
    for (; count > largestRun; count -= largestRun) {
      encoded.push(skipped, largestRun);
      skipped = 0;
    }
    encoded.push(skipped, count);
  }
  return encoded;
}
