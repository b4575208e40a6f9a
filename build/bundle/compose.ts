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

export type Parts = {
  readonly image: Elf;
  readonly runtime: Elf;
  readonly patches: readonly Patch[];
  /** Where the executable's thread-local image goes, and the address that the runtime reserved for the block. */
  readonly block: ThreadBlock;
  readonly blockAddress: number;
  /** Where the kernel starts it. */
  readonly entry: number;
  readonly pageSize: number;
};

/** `e_entry` in the ELF header (System V gABI, chapter 4). */
const entryAt = 24;

/** Bytes that go to an offset of the new file. */
type Piece = { readonly bytes: Uint8Array; readonly to: number };
type Layout = { readonly segments: readonly Segment[]; readonly pieces: readonly Piece[]; readonly size: number };

/** The static executable: the image with its relocations applied, the runtime behind it, new program headers. */
export function compose(parts: Parts): Uint8Array {
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

/** Of the image only what is loaded is kept: section headers and symbol tables behind it are not. */
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
  const behind = Math.max(...loads.map(({ address }) => address));
  const runtimeLoads = segmentsOf(runtime, segmentType.load)
    .filter(({ address }) => address > behind)
    .map((load) => place(runtime, load, load.fileSize));
  const allLoads = [...imageLoads, ...runtimeLoads].toSorted((one, other) => one.address - other.address);
  return { segments: [...allLoads, ...otherSegments(image, runtime, runtimeLoads)], pieces, size: end };
}

/** A relocation may change memory that is zero at first and has no place in the file yet (a copy into .bss). */
function isPatchedPastFile(load: Segment, patches: readonly Patch[]): boolean {
  const fileEnd = load.address + load.fileSize;
  const memoryEnd = load.address + load.memorySize;
  return patches.some(
    ({ at, bytes }) => bytes.length > 0 && at + bytes.length > fileEnd && at < memoryEnd && at >= load.address,
  );
}

/** Zeros that no kernel would have to write into what is read-only. */
function isHollow({ flags, fileSize, memorySize }: Segment): boolean {
  return (flags & segmentFlag.write) === 0 && fileSize < memorySize;
}

/** The merged thread-local image, and what the image says about its stack (musl takes the threads' stack size from it). */
function otherSegments(image: Elf, runtime: Elf, runtimeLoads: readonly Segment[]): Segment[] {
  const thread = segmentOf(runtime, segmentType.thread);
  const holder = runtimeLoads.find(
    (load) => thread && thread.address >= load.address && thread.address < load.address + load.memorySize,
  );
  const merged = thread && holder ? [{ ...thread, offset: holder.offset + thread.address - holder.address }] : [];
  return [...merged, ...segmentsOf(image, segmentType.frames), ...segmentsOf(image, segmentType.stack)];
}

/** Done last: relocations may have changed the image's initial thread-local values. */
function copyThreadImage(output: Elf, { image, block, blockAddress }: Parts): void {
  const thread = segmentOf(image, segmentType.thread);
  if (thread === undefined || thread.fileSize === 0) return;
  const from = fileOffset(output, thread.address, thread.fileSize);
  const to = fileOffset(output, blockAddress + block.lead, thread.fileSize);
  output.bytes.copyWithin(to, from, from + thread.fileSize);
}
