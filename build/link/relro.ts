import { type Elf, type Segment, segmentFlag, segmentOf, segmentsOf, segmentType } from "./elf.ts";

/** The addresses from `start` up to but without `end`. */
type AddressSpan = { readonly start: number; readonly end: number };

/**
 * Returns the whole pages that a loader makes read-only when it has applied the relocations (PT_GNU_RELRO); a page that
 * is only partly in that range stays writable. Returns undefined if there are no such pages: Bun is linked without.
 */
export function relroPages(elf: Elf, pageSize: number): AddressSpan | undefined {
  const relro = segmentOf(elf, segmentType.relro);
  if (relro === undefined) return undefined;
  const start = relro.address - (relro.address % pageSize);
  const end = relro.address + relro.memorySize;
  const pages = { start, end: end - (end % pageSize) };
  return pages.end > pages.start ? pages : undefined;
}

/**
 * Returns the loaded segments, split so that the pages of `relroPages` are read-only from the first instruction on: the
 * link has filled them already.
 */
export function protectedLoads(elf: Elf, pageSize: number): Segment[] {
  const loads = segmentsOf(elf, segmentType.load);
  const pages = relroPages(elf, pageSize);
  return pages === undefined ? [...loads] : loads.flatMap((load) => split(load, pages, pageSize));
}

function split(load: Segment, { start, end }: AddressSpan, pageSize: number): Segment[] {
  const isWritable = (load.flags & segmentFlag.write) !== 0;
  const firstPage = load.address - (load.address % pageSize);
  if (!isWritable || firstPage !== start) return [load];
  const flags = load.flags & ~segmentFlag.write;
  const size = end - load.address;
  if (load.memorySize <= size) return [{ ...load, flags }];
  const stored = Math.min(load.fileSize, size);
  return [
    { ...load, flags, fileSize: stored, memorySize: size },
    {
      ...load,
      offset: load.offset + stored,
      address: end,
      fileSize: load.fileSize - stored,
      memorySize: load.memorySize - size,
    },
  ];
}
