import { findAssets } from "../bundle/assets.ts";
import { type Elf, readElf, segmentFlag, segmentsOf, segmentType } from "../link/elf.ts";
import { loaderTables } from "../link/loader-tables.ts";
import type { Target } from "../targets.ts";
import { cutDeadPages } from "./cut.ts";
import { readIcu, reduceIcu } from "./icu.ts";
import type { Range } from "./range.ts";

type ShrinkInput = {
  /** The executable before the static link, which still has its section headers. */
  readonly input: Uint8Array;
  /** The static executable. */
  readonly linked: Uint8Array;
  readonly target: Target;
};

type ShrinkResult = {
  readonly bytes: Uint8Array;
  /** Lines that say what went, and what stayed because it is unknown. */
  readonly report: readonly string[];
};

/**
 * Returns the executable without what nothing in it can reach: tables for a loader, ICU's data of other languages,
 * assets of Bun's developer tools. `linked` stays as it is. @throws Error if the layout is not known
 */
export function shrink({ input, linked, target }: ShrinkInput): ShrinkResult {
  const bytes = new Uint8Array(linked);
  const elf = readElf(bytes, "linked executable");
  const tables = loaderTables(readElf(input, "input"), elf);
  const constants = readOnly(elf);
  const icu = reduceIcu(bytes, readIcu(bytes, constants));
  const assets = findAssets(bytes, { from: icu.dead.to, to: constants.to });
  const dead = [tables, icu.dead, ...assets.dead].toSorted((one, other) => one.from - other.from);
  for (const { from, to } of dead) bytes.fill(0, from, to);
  const room = tables.to - elf.segmentsOffset;
  return {
    bytes: cutDeadPages({ elf, dead: together(dead), room, target }),
    report: [
      `${icu.dropped} of ${icu.dropped + icu.kept} items of ICU are other languages': ${size([icu.dead])}`,
      `${assets.dead.length} assets are developer tools': ${size(assets.dead)}`,
      ...assets.unknown.map(
        ({ from, to, digest, text }) =>
          `kept an asset of ${to - from} bytes that build/shrink/tool-assets.ts does not know: ${digest} ${JSON.stringify(text)}`,
      ),
    ],
  };
}

/** Returns the place of Bun's constants: the first read-only segment. The linked runtime has another, behind it. */
function readOnly(elf: Elf): Range {
  const first = segmentsOf(elf, segmentType.load).find(({ flags }) => flags === segmentFlag.read);
  if (first === undefined) throw new Error(`${elf.name}: has no read-only segment`);
  return { from: first.offset, to: first.offset + first.fileSize };
}

/** Joins ranges that touch, because a page may belong to both. */
function together(ranges: readonly Range[]): Range[] {
  const merged: Range[] = [];
  for (const range of ranges) {
    const last = merged.at(-1);
    if (last !== undefined && range.from === last.to) merged[merged.length - 1] = { from: last.from, to: range.to };
    else merged.push(range);
  }
  return merged;
}

function size(ranges: readonly Range[]): string {
  const bytes = ranges.reduce((sum, { from, to }) => sum + to - from, 0);
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
