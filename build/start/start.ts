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

/** From the executable's first byte to the code that runs first, see src/native/pages.c: room for thirty program headers. */
export const startOffset = 0x800;

/** The table counts pages of 4 KiB, the smallest that a kernel has. */
export const page = 0x1000;

/** The kernel reads no more than a disk's read-ahead, usually 128 KiB, when it is asked once. */
const largestRun = 32;

/** What runs before all else, as the runtime's link has made it. */
export type StartCode = {
  /** Where it goes, and where it begins. */
  readonly address: number;
  readonly code: Uint8Array;
  /** Addresses of the table of pages that the code reads. */
  readonly table: Range;
};

/** Undefined where the runtime was linked without it. */
export function findStart(runtime: Elf): StartCode | undefined {
  const symbols = readSymbols(runtime, symbolTable.all);
  const entry = symbols.get("ebb_entry")?.value;
  const from = symbols.get("ebb_start_table")?.value;
  const to = symbols.get("ebb_start_table_end")?.value;
  if (entry === undefined || from === undefined || to === undefined) return undefined;
  return { address: entry, code: memoryAt(runtime, entry, to - entry).slice(), table: { from, to } };
}

export type StartInput = {
  readonly bytes: Uint8Array;
  readonly start: StartCode;
  /** Addresses of what a start touches, in order. */
  readonly touched: readonly Range[];
  readonly pageSize: number;
};

/** Puts the code behind the program headers. */
export function addStart({ bytes, start, touched, pageSize }: StartInput): Uint8Array {
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

/** The first page, of the headers, can be executed. Data ends with a page, so that no kernel has to write zeros, and read, there. */
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
  const encoded = encodeRuns(touched, segmentsOf(elf, segmentType.load)[0]?.address ?? 0);
  const size = table.to - table.from;
  if (encoded.length + 2 <= size) return Uint8Array.from(encoded);
  const needed = `the table of ${touched.length} runs of pages needs ${encoded.length + 2} bytes`;
  throw new Error(`${elf.name}: ${needed}, it has ${size}`);
}

/** Two bytes for each run of pages: how many are left out, from an address on, and how many it has. */
export function encodeRuns(touched: readonly Range[], address: number): readonly number[] {
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
