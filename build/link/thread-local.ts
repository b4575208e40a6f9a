import type { Target } from "../targets.ts";
import { alignUp, type Segment } from "./elf.ts";

/**
 * The block that the runtime reserves in its thread-local image for that of the executable, whose code already contains
 * offsets from the thread pointer: below the pointer the block must come last, above it first (Drepper, "ELF Handling
 * For Thread-Local Storage", section 3). All numbers are bytes.
 */
export type ThreadBlock = {
  readonly size: number;
  readonly align: number;
  /** The offset in the block at which the executable's image begins. */
  readonly lead: number;
  /** The offset of the executable's image from the thread pointer. */
  readonly base: number;
};

/** The largest alignment of a thread-local variable of the runtime that needs no second thought. */
const cacheLine = 64;
/** The two words that variant I keeps at the thread pointer. */
const controlBlock = 16;

/**
 * Returns the block that the runtime must reserve for the executable's thread-local image (PT_TLS; undefined if it has
 * none). @throws Error if the image's address is not a multiple of its alignment
 */
export function threadBlock(image: Segment | undefined, target: Target): ThreadBlock {
  const { align: rawAlign = 1, memorySize = 0, address = 0 } = image ?? {};
  const align = Math.max(rawAlign, 1);
  if (address % align !== 0)
    throw new Error(`the thread-local image at ${address} is not aligned to ${align}; its offsets would be misread`);
  if (target.threadBlocks === "above")
    return {
      size: Math.max(alignUp(memorySize, align), controlBlock),
      align,
      lead: 0,
      base: alignUp(controlBlock, align),
    };
  const size = alignUp(memorySize, align);
  const blockAlign = Math.max(align, cacheLine);
  const blockSize = Math.max(alignUp(size, blockAlign), blockAlign);
  return { size: blockSize, align: blockAlign, lead: blockSize - size, base: -size };
}

/** Returns the offset from the thread pointer of the byte at `offset` in the merged thread-local image. */
export function threadOffset(merged: Segment, offset: number, target: Target): number {
  if (target.threadBlocks === "above") return offset + alignUp(controlBlock, merged.align);
  return offset - alignUp(merged.memorySize, merged.align);
}

/**
 * Checks that the merged thread-local image gives the executable's variables the offsets that its code contains.
 * `blockOffset` is the place of the block in that image. @throws Error if it does not
 */
export function checkThreadBlock(merged: Segment, blockOffset: number, block: ThreadBlock, target: Target): void {
  const actual = threadOffset(merged, blockOffset + block.lead, target);
  if (actual === block.base) return;
  throw new Error(
    `the executable's thread-local variables must lie at ${block.base} from the thread pointer, the linked runtime ` +
      `puts them at ${actual} (merged image: ${merged.memorySize} bytes, aligned to ${merged.align})`,
  );
}
