import {
  alignUp,
  type Elf,
  fileOffset,
  type Segment,
  segmentFlag,
  segmentOf,
  segmentsOf,
  segmentType,
  writeSegments,
} from "../link/elf.ts";
import type { Patch } from "../link/relocate.ts";
import { protectedLoads } from "../link/relro.ts";
import type { ThreadBlock } from "../link/thread-local.ts";

type Parts = {
  readonly image: Elf;
  readonly runtime: Elf;
  readonly patches: readonly Patch[];
  /** The block of the runtime's thread-local image that receives the image's own. */
  readonly block: ThreadBlock;
  /** The address that the runtime reserved for `block`. */
  readonly blockAddress: number;
  /** The address at which the kernel starts the executable. */
  readonly entry: number;
  readonly pageSize: number;
};

/** `e_entry` in the ELF header (System V gABI, chapter 4). */
const entryAt = 24;

/** Bytes for the offset `to` of the new file. */
type Piece = { readonly bytes: Uint8Array; readonly to: number };
type Layout = { readonly segments: readonly Segment[]; readonly pieces: readonly Piece[]; readonly size: number };

/**
 * Returns the static executable: the image with its relocations applied, the runtime behind it, new program headers.
 * @throws Error if the headers need more room than the old ones, or a patch lies in no segment
 */
export function composeExecutable(parts: Parts): Uint8Array {
  const { segments, pieces, size } = layOut(parts);
  const output = new Uint8Array(size);
  for (const { bytes, to } of pieces) output.set(bytes, to);
  writeSegments(output, parts.image, segments);
  new DataView(output.buffer).setBigUint64(entryAt, BigInt(parts.entry), true);
  const elf = { ...parts.image, bytes: output, segments };
  for (const { at, bytes } of parts.patches) if (bytes.length > 0) output.set(bytes, fileOffset(elf, at, bytes.length));
  copyThreadImage(elf, parts);
  return output;
}

/** Lays out the new file. Only the loaded part of the image stays: section headers and symbol tables behind it go. */
function layOut({ image, runtime, patches, pageSize }: Parts): Layout {
  const loads = protectedLoads(image, pageSize);
  const kept = Math.max(...loads.map((load) => load.offset + load.fileSize));
  const pieces: Piece[] = [{ bytes: image.bytes.subarray(0, kept), to: 0 }];
  let end = kept;
  const place = (from: Elf, load: Segment, fileSize: number): Segment => {
    const offset = alignUp(end, pageSize) + (load.address % pageSize);
    pieces.push({ bytes: from.bytes.subarray(load.offset, load.offset + load.fileSize), to: offset });
    end = offset + fileSize;
    return { ...load, offset, fileSize };
  };
  const imageLoads = loads.map((load) =>
    isPatchedPastFile(load, patches) || isHollow(load) ? place(image, load, load.memorySize) : load,
  );
  const runtimeLoads = segmentsOf(runtime, segmentType.load).map((load) => place(runtime, load, load.fileSize));
  const allLoads = [...imageLoads, ...runtimeLoads].toSorted((one, other) => one.address - other.address);
  return { segments: [...allLoads, ...otherSegments(image, runtime, runtimeLoads)], pieces, size: end };
}

/**
 * Reports whether a relocation changes memory that is zero at first and has no place in the file yet (a copy into
 * .bss).
 */
function isPatchedPastFile(load: Segment, patches: readonly Patch[]): boolean {
  const fileEnd = load.address + load.fileSize;
  const memoryEnd = load.address + load.memorySize;
  return patches.some(
    ({ at, bytes }) => bytes.length > 0 && at + bytes.length > fileEnd && at < memoryEnd && at >= load.address,
  );
}

/**
 * Reports whether a read-only segment ends with zeros that are not in the file: no kernel would have to write them
 * there.
 */
function isHollow({ flags, fileSize, memorySize }: Segment): boolean {
  return (flags & segmentFlag.write) === 0 && fileSize < memorySize;
}

/**
 * Returns the merged thread-local image and the image's headers for unwinding and for the stack, whose size musl uses.
 */
function otherSegments(image: Elf, runtime: Elf, runtimeLoads: readonly Segment[]): Segment[] {
  const thread = segmentOf(runtime, segmentType.thread);
  const holder = runtimeLoads.find(
    (load) => thread && thread.address >= load.address && thread.address < load.address + load.memorySize,
  );
  const merged = thread && holder ? [{ ...thread, offset: holder.offset + thread.address - holder.address }] : [];
  return [...merged, ...segmentsOf(image, segmentType.frames), ...segmentsOf(image, segmentType.stack)];
}

/** Copies the image's initial thread-local values into the block. Done last: relocations may have changed them. */
function copyThreadImage(output: Elf, { image, block, blockAddress }: Parts): void {
  const thread = segmentOf(image, segmentType.thread);
  if (thread === undefined || thread.fileSize === 0) return;
  const from = fileOffset(output, thread.address, thread.fileSize);
  const to = fileOffset(output, blockAddress + block.lead, thread.fileSize);
  output.bytes.copyWithin(to, from, from + thread.fileSize);
}
