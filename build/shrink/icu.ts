import { alignUp, hex, view } from "../link/elf.ts";
import { localeIndex } from "./icu-index.ts";
import { folderOf, isIndex, isKeptItem, localeOf, missingItems } from "./icu-items.ts";
import type { Range } from "./range.ts";

/** An item of ICU's data; its places count from the table of contents. */
type IcuItem = {
  /** The name with the package's: `icudt78l/curr/de.res`. */
  readonly name: string;
  /** The offset of its first byte. */
  readonly at: number;
  /** The offset of the next item's first byte; undefined for the last item, whose size is not told. */
  readonly end: number | undefined;
};

/** ICU's data in a file. */
export type IcuPackage = {
  /** The offset in the file of its table of contents. */
  readonly base: number;
  /** Its items, sorted by name. */
  readonly items: readonly IcuItem[];
};

type Reduced = {
  /** The part of the file that nothing refers to any more; it is zero. */
  readonly dead: Range;
  /** The number of items that are left. */
  readonly kept: number;
  /** The number of items that are gone. */
  readonly dropped: number;
};

const magic = 0x27da;
const compressed = 0xfd2fb528;
const alignment = 16;

/**
 * Finds ICU's data (icu4c/source/common/ucmndata.h: a header, a table of contents sorted by name, the items) in a part
 * of a file. @throws Error if there is not exactly one package, or if anything differs from the known format
 */
export function readIcu(bytes: Uint8Array, { from, to }: Range): IcuPackage {
  const part = bytes.subarray(from, to);
  const header = findHeader(part);
  const fields = view(part, header, 24, "ICU data", "header");
  const [bigEndian, charset, version] = [fields.getUint8(8), fields.getUint8(9), fields.getUint8(16)];
  if (bigEndian !== 0 || charset !== 0 || version !== 1)
    throw new Error(
      `ICU data: expected little-endian ASCII in format 1, got byte order ${bigEndian}, charset ${charset}, format ${version}`,
    );
  const base = header + fields.getUint16(0, true);
  return { base: from + base, items: readItems(part.subarray(base)) };
}

/**
 * Finds the header by its four letters. They alone may also be an operand of code, so a data header must surround them.
 */
function findHeader(part: Uint8Array): number {
  const found: number[] = [];
  const letters = Buffer.from("CmnD");
  const buffer = Buffer.from(part.buffer, part.byteOffset, part.length);
  for (let at = buffer.indexOf(letters); at >= 0; at = buffer.indexOf(letters, at + 1))
    if (at >= 12 && buffer.readUInt16LE(at - 10) === magic) found.push(at - 12);
  const [header] = found;
  if (header === undefined || found.length > 1)
    throw new Error(`ICU data: expected one package ("CmnD") in the read-only data, found ${found.length}`);
  return header;
}

function readItems(content: Uint8Array): IcuItem[] {
  const count = view(content, 0, 4, "ICU data", "count of items").getUint32(0, true);
  const table = view(content, 4, count * 8, "ICU data", `table of ${count} items`);
  const offset = (index: number): number | undefined =>
    index < count ? table.getUint32(index * 8 + 4, true) : undefined;
  const names = Array.from({ length: count }, (_, index) => readName(content, table.getUint32(index * 8, true)));
  const items = names.map((name, index) => ({ name, at: offset(index) ?? 0, end: offset(index + 1) }));
  let end = 4 + count * 8 + names.reduce((sum, name) => sum + name.length + 1, 0);
  items.forEach((item, index) => {
    const previous = items[index - 1];
    if (previous !== undefined && previous.name >= item.name)
      throw new Error(`ICU data: the items are not sorted by name: "${item.name}" comes after "${previous.name}"`);
    if (item.at < end || item.at % alignment !== 0)
      throw new Error(`ICU data: "${item.name}" lies at ${hex(item.at)}: overlapping, out of order, or not aligned`);
    end = item.at + headerSize(content, item);
  });
  return items;
}

function readName(content: Uint8Array, at: number): string {
  const end = content.indexOf(0, at);
  if (at >= content.length || end < 0) throw new Error(`ICU data: truncated: no name at ${hex(at)}`);
  return Buffer.from(content.subarray(at, end)).toString("latin1");
}

/**
 * Returns the size of an item's header. An item has one like the package's, or is a Zstandard frame, which Bun
 * inflates.
 */
function headerSize(content: Uint8Array, { name, at }: IcuItem): number {
  const fields = view(content, at, 8, "ICU data", `"${name}"`);
  if (fields.getUint16(2, true) === magic) return fields.getUint16(0, true);
  if (fields.getUint32(0, true) === compressed) return 8;
  throw new Error(`ICU data: "${name}" at ${hex(at)} begins neither with a data header nor as a Zstandard frame`);
}

/**
 * Rewrites ICU's package in `bytes` with fewer items, as ICU's own data build tool does with a filter: to ICU an item
 * that is not listed is one that it was built without. The last item keeps its place, because its size is not known.
 * @throws Error if an item that Intl needs is missing
 */
export function reduceIcu(bytes: Uint8Array, { base, items }: IcuPackage): Reduced {
  const kept = items.filter(({ name }) => isKeptItem(name));
  const names = kept.map(({ name }) => name);
  const missing = missingItems(names);
  if (missing.length > 0) throw new Error(`ICU data: lacks what Intl needs: ${missing.join(", ")}`);
  const last = items.at(-1) as IcuItem;
  const before = new Uint8Array(bytes.subarray(base, base + last.at));
  const contents = kept.map((item) => (isIndex(item.name) ? indexOf(item.name, names) : contentOf(before, item)));
  bytes.fill(0, base, base + last.at);
  const end = writePackage(bytes.subarray(base), names, contents, last);
  return { dead: { from: base + end, to: base + last.at }, kept: kept.length, dropped: items.length - kept.length };
}

/** Returns a new index, which lists the locales that are left in its folder. */
function indexOf(index: string, names: readonly string[]): Uint8Array {
  const siblings = names.filter((name) => folderOf(name) === folderOf(index));
  return localeIndex(siblings.flatMap((name) => localeOf(name) ?? []));
}

/** Returns an item's bytes; none for the last item, which is not moved. */
function contentOf(before: Uint8Array, { at, end }: IcuItem): Uint8Array {
  return end === undefined ? new Uint8Array(0) : before.subarray(at, end);
}

/** Writes the package, and returns the offset at which it ends if the last item does not count. */
function writePackage(
  package_: Uint8Array,
  names: readonly string[],
  contents: readonly Uint8Array[],
  last: IcuItem,
): number {
  const tableSize = 4 + names.length * 8;
  const table = view(package_, 0, tableSize, "ICU data", "table of items");
  table.setUint32(0, names.length, true);
  let end = tableSize;
  names.forEach((name, index) => {
    table.setUint32(4 + index * 8, end, true);
    package_.set(Buffer.from(`${name}\0`, "latin1"), end);
    end += name.length + 1;
  });
  names.forEach((name, index) => {
    const content = contents[index] as Uint8Array;
    const at = name === last.name ? last.at : alignUp(end, alignment);
    table.setUint32(8 + index * 8, at, true);
    if (name === last.name) return;
    package_.set(content, at);
    end = at + content.length;
  });
  return end;
}
