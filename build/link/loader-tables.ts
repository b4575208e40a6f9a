import type { Range } from "../shrink/range.ts";
import { type Elf, hex, segmentOf, segmentType, view, word } from "./elf.ts";

const sectionSize = 64;

/**
 * Types of sections (elf.h, System V gABI, chapter 4) that at most a dynamic loader reads in a linked program.
 */
const loaderOnly = new Set([
  3, // STRTAB: names of the dynamic symbols
  4, // RELA
  5, // HASH
  7, // NOTE
  11, // DYNSYM
  0x6ffffff6, // GNU_HASH
  0x6ffffffd, // VERDEF
  0x6ffffffe, // VERNEED
  0x6fffffff, // VERSYM
]);

/**
 * Returns the part of a statically linked executable, right behind its program headers, that still holds the tables for
 * the loader: symbols, hashes, versions, relocations. The link has applied them all, and there is no loader, so it is
 * room for more program headers. `input` is the executable before the link. @throws Error if the link has changed that
 * part
 */
export function loaderTables(input: Elf, linked: Elf): Range {
  const header = view(input.bytes, 0, 64, input.name, "ELF header");
  const count = header.getUint16(60, true);
  const table = view(input.bytes, word(header, 40), count * sectionSize, input.name, "section header table");
  const from = input.segmentsOffset + header.getUint16(54, true) * input.segments.length;
  const interpreter = segmentOf(input, segmentType.interp)?.offset;
  let to = from;
  for (let at = sectionSize; at < table.byteLength; at += sectionSize) {
    const offset = word(table, at + 24);
    if (!loaderOnly.has(table.getUint32(at + 4, true)) && offset !== interpreter) break;
    to = offset + word(table, at + 32);
  }
  const isSame = Buffer.compare(input.bytes.subarray(from, to), linked.bytes.subarray(from, to)) === 0;
  if (!isSame)
    throw new Error(`${linked.name}: what is between ${hex(from)} and ${hex(to)} is not the loader's tables`);
  return { from, to };
}
