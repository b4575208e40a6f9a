import {
  type Elf,
  fileOffset,
  type Segment,
  segmentFlag,
  segmentsOf,
  segmentType,
  writeSegments,
} from "../link/elf.ts";
import type { Target } from "../targets.ts";
import type { Range } from "./range.ts";

type CutInput = {
  readonly elf: Elf;
  /** The parts of the file that nothing reads, in order; no two of them touch. */
  readonly dead: readonly Range[];
  /** The number of bytes that the program headers may fill. */
  readonly room: number;
  readonly target: Target;
};

/** The size of the smallest cut, in bytes: each costs a program header and a mapping. */
const worthwhile = 0x1_0000;

/**
 * Returns the same executable in a smaller file. Pages of read-only memory that nothing reads are not in it, and are
 * not mapped: a process that reads them after all is ended by SIGSEGV. Pages of writable memory that are zero at first
 * are not in it either: they become like .bss. Only runs of at least 64 KiB are cut. @throws Error if the headers need
 * more `room`
 */
export function cutDeadPages({ elf, dead, room, target }: CutInput): Uint8Array {
  const { pageSize } = target;
  const loads = segmentsOf(elf, segmentType.load).flatMap((load) => divide(elf, load, dead, pageSize));
  let end = 0;
  // Segments follow each other as ld places them: offset and address of each are the same modulo the page size.
  const placed = loads.map((load) => {
    const offset = end + ((((load.address - end) % pageSize) + pageSize) % pageSize);
    end = offset + load.fileSize;
    return { ...load, offset };
  });
  const bytes = new Uint8Array(end);
  placed.forEach(({ offset, fileSize }, index) => {
    const from = loads[index]?.offset ?? 0;
    bytes.set(elf.bytes.subarray(from, from + fileSize), offset);
  });
  const after = { ...elf, bytes, segments: placed };
  const others = elf.segments.filter(({ type }) => type !== segmentType.load);
  const moved = others.map((other) =>
    other.fileSize === 0 ? other : { ...other, offset: fileOffset(after, other.address, 1) },
  );
  writeSegments(bytes, elf, [...placed, ...moved], Math.min(room, (placed[0]?.fileSize ?? 0) - elf.segmentsOffset));
  return bytes;
}

/** Returns the segments that are left of a segment if whole pages go from the middle of it. */
function divide(elf: Elf, load: Segment, dead: readonly Range[], pageSize: number): Segment[] {
  const isWritable = (load.flags & segmentFlag.write) !== 0;
  const gaps = (isWritable ? zeroRuns(elf.bytes, load) : dead)
    .map((range) => wholePages(range, load, pageSize))
    .filter(({ from, to }) => from > load.offset && to - from >= worthwhile);
  const starts = [load.offset, ...gaps.map(({ to }) => to)];
  const ends = [...gaps.map(({ from }) => from), load.offset + load.fileSize];
  return starts.map((start, index) => {
    const isLast = index === gaps.length;
    const fileSize = (ends[index] as number) - start;
    const before = start - load.offset;
    const next = isLast ? load.memorySize : (starts[index + 1] as number) - load.offset;
    return {
      ...load,
      offset: start,
      address: load.address + before,
      fileSize,
      memorySize: isWritable || isLast ? next - before : fileSize,
    };
  });
}

/** Returns the part of a range that lies in a segment and consists of whole pages of its memory. */
function wholePages({ from, to }: Range, { offset, address, fileSize }: Segment, pageSize: number): Range {
  const shift = address - offset;
  const start = Math.ceil((Math.max(from, offset) + shift) / pageSize) * pageSize - shift;
  const end = Math.floor((Math.min(to, offset + fileSize) + shift) / pageSize) * pageSize - shift;
  return { from: start, to: end };
}

/** Returns the runs of zeros of at least `worthwhile` bytes. */
function zeroRuns(bytes: Uint8Array, { offset, fileSize }: Segment): Range[] {
  const runs: Range[] = [];
  const end = offset + fileSize;
  for (let at = offset; at < end; ) {
    const from = bytes.indexOf(0, at);
    if (from < 0 || from >= end) break;
    at = from;
    while (at < end && bytes[at] === 0) at++;
    if (at - from >= worthwhile) runs.push({ from, to: at });
  }
  return runs;
}
