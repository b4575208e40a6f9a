import { createHash } from "node:crypto";
import { type Elf, fileOffset, type Segment, segmentFlag, segmentsOf, segmentType } from "./elf.ts";
import type { Range } from "./range.ts";
import table from "./unreached.json" with { type: "json" };

/**
 * A function of Bun that ebb never calls. That of the type checker is the one that names tsconfig.json, jsconfig.json and
 * typescript, one after the other: 5.7 MB of code are reached through it only.
 */
export type Door = { readonly name: string; readonly at: string };

/** What is only behind such functions, in one release of Bun, whose code has this SHA-256: addresses in hexadecimal. */
export type Unreached = { readonly code: string; readonly doors: readonly Door[]; readonly ranges: readonly string[] };

/** Where it is in the file of an executable that is linked from `input`; nothing where that has the code of another Bun. */
export function findUnreachedCode(input: Elf, linked: Elf, { code, ranges }: Unreached = table): readonly Range[] {
  if (codeDigest(input) !== code) return [];
  return ranges.map((range) => {
    const [from = 0, to = 0] = range.split("-").map((address) => Number.parseInt(address, 16));
    const offset = fileOffset(linked, from, to - from);
    return { from: offset, to: offset + to - from };
  });
}

/** SHA-256 of the first segment of code: Bun's. */
export function codeDigest(elf: Elf): string {
  const load = segmentsOf(elf, segmentType.load).find(({ flags }) => (flags & segmentFlag.execute) !== 0) as Segment;
  const { offset, fileSize } = load;
  return createHash("sha256")
    .update(elf.bytes.subarray(offset, offset + fileSize))
    .digest("hex");
}
