import { type Elf, hex, loadAt, memoryAt, segmentOf, segmentType, view, word } from "./elf.ts";
import { type ElfSymbol, readName, readSymbol, symbolSize } from "./elf-symbols.ts";

/** An entry of a relocation table (Elf64_Rela). */
export type Relocation = {
  /** The address that it changes. */
  readonly at: number;
  /** The number that the architecture gives it. */
  readonly type: number;
  /** The symbol that it refers to; undefined if it refers to none. */
  readonly symbol: ElfSymbol | undefined;
  readonly addend: number;
};

/** A part of a program's memory; `size` is in bytes. */
type AddressRange = { readonly address: number; readonly size: number };

/** What a dynamic loader would do for an executable, read from its dynamic table. */
export type DynamicTable = {
  /** The names of the shared libraries that it needs: `libc.musl-x86_64.so.1`. */
  readonly needed: readonly string[];
  /** The address of the function that runs before `initArray`; undefined if there is none. */
  readonly init: number | undefined;
  /** The address of the function that runs after `finiArray`; undefined if there is none. */
  readonly fini: number | undefined;
  /** The addresses of the initialisers; empty (size 0) if there are none. */
  readonly initArray: AddressRange;
  /** The addresses of the finalisers; empty (size 0) if there are none. */
  readonly finiArray: AddressRange;
  /** Those of DT_RELA, then those of DT_JMPREL. */
  readonly relocations: readonly Relocation[];
};

/** Tag numbers of elf.h (System V gABI, chapter 5, "Dynamic Section"). */
const tag = {
  null: 0,
  needed: 1,
  jumpSize: 2,
  strings: 5,
  symbols: 6,
  rela: 7,
  relaSize: 8,
  relaEntry: 9,
  stringsSize: 10,
  symbolEntry: 11,
  init: 12,
  fini: 13,
  rel: 17,
  jumpType: 20,
  jump: 23,
  initArray: 25,
  finiArray: 26,
  initArraySize: 27,
  finiArraySize: 28,
  preinitArray: 32,
  relr: 36,
} as const;

/**
 * Tags that need nothing done in a static link: they help to find symbols (hash tables, versions) and libraries, bind
 * late, serve debuggers, count, or tell the size of a table whose own tag is refused.
 */
const idle: ReadonlySet<number> = new Set([
  ...[3, 4, 14, 15, 16, 18, 19, 21, 22, 29, 30, 33, 35, 37],
  ...[0x6ffffef5, 0x6ffffef6, 0x6ffffef7, 0x6ffffff0, 0x6ffffff9, 0x6ffffffa, 0x6ffffffb],
  ...[0x6ffffffc, 0x6ffffffd, 0x6ffffffe, 0x6fffffff],
  ...[0x70000001, 0x70000003, 0x70000005], // of arm64: how its PLT is protected, and who calls with vectors
]);

const relaSize = 24;

type Tags = { readonly needed: readonly number[]; readonly values: ReadonlyMap<number, number> };

/**
 * Reads the dynamic table and its relocations. @throws Error on any entry that it cannot represent, instead of skipping
 * it, and if there is no dynamic table: then the file is probably linked statically already
 */
export function readDynamic(elf: Elf): DynamicTable {
  const tags = readTags(elf);
  refuseUnsupported(elf, tags.values);
  const strings = range(elf, tags.values, tag.strings, tag.stringsSize);
  const names = memoryAt(elf, strings.address, strings.size);
  return {
    needed: tags.needed.map((offset) => readName(names, offset, elf.name)),
    init: tags.values.get(tag.init),
    fini: tags.values.get(tag.fini),
    initArray: range(elf, tags.values, tag.initArray, tag.initArraySize),
    finiArray: range(elf, tags.values, tag.finiArray, tag.finiArraySize),
    relocations: readAllRelocations(elf, tags.values, names),
  };
}

function readTags(elf: Elf): Tags {
  const segment = segmentOf(elf, segmentType.dynamic);
  if (segment === undefined)
    throw new Error(`${elf.name}: has no dynamic table; it seems to be linked statically already`);
  const table = view(elf.bytes, segment.offset, segment.fileSize, elf.name, "dynamic table");
  const needed: number[] = [];
  const values = new Map<number, number>();
  for (let at = 0; at + 16 <= table.byteLength; at += 16) {
    const key = word(table, at);
    if (key === tag.null) return { needed, values };
    if (key === tag.needed) needed.push(word(table, at + 8));
    else values.set(key, word(table, at + 8));
  }
  throw new Error(`${elf.name}: truncated or malformed: the dynamic table has no end mark`);
}

function refuseUnsupported(elf: Elf, values: ReadonlyMap<number, number>): void {
  const expected: readonly (readonly [number, number | undefined, string])[] = [
    [tag.rel, undefined, "relocations without addend (DT_REL)"],
    [tag.relr, undefined, "packed relocations (DT_RELR)"],
    [tag.preinitArray, undefined, "a pre-initialisation array (DT_PREINIT_ARRAY)"],
    [tag.relaEntry, relaSize, "an odd size of relocations (DT_RELAENT)"],
    [tag.symbolEntry, symbolSize, "an odd size of symbols (DT_SYMENT)"],
    [tag.jumpType, tag.rela, "PLT relocations without addend (DT_PLTREL)"],
  ];
  for (const [key, allowed, what] of expected) {
    const value = values.get(key);
    if (value !== undefined && value !== allowed)
      throw new Error(
        `${elf.name}: uses ${what}, value ${hex(value)}; the static link does not know how to apply that`,
      );
  }
  const known: readonly number[] = Object.values(tag);
  const unknown = [...values.keys()].filter((key) => !known.includes(key) && !idle.has(key)).map(hex);
  if (unknown.length > 0)
    throw new Error(`${elf.name}: has dynamic tags that the static link does not know: ${unknown.join(", ")}`);
}

/**
 * Returns the range of a table that two tags describe, of size 0 if they are missing. @throws Error if it is not in the
 * file
 */
function range(elf: Elf, values: ReadonlyMap<number, number>, addressTag: number, sizeTag: number): AddressRange {
  const found = { address: values.get(addressTag) ?? 0, size: values.get(sizeTag) ?? 0 };
  if (found.size === 0) return found;
  const { address, fileSize } = loadAt(elf, found.address, found.size);
  if (found.address + found.size <= address + fileSize) return found;
  throw new Error(
    `${elf.name}: malformed: the table of ${found.size} bytes at ${hex(found.address)} is not in the file`,
  );
}

function readAllRelocations(elf: Elf, values: ReadonlyMap<number, number>, names: Uint8Array): Relocation[] {
  const symbols = values.get(tag.symbols) ?? 0;
  const tables = [range(elf, values, tag.rela, tag.relaSize), range(elf, values, tag.jump, tag.jumpSize)];
  return tables.flatMap((table) => readRelocations(elf, table, symbols, names));
}

function readRelocations(elf: Elf, table: AddressRange, symbols: number, names: Uint8Array): Relocation[] {
  if (table.size === 0) return [];
  if (table.size % relaSize !== 0)
    throw new Error(`${elf.name}: malformed: a relocation table of ${table.size} bytes is no multiple of ${relaSize}`);
  const bytes = memoryAt(elf, table.address, table.size);
  const entries = view(bytes, 0, table.size, elf.name, "relocation table");
  return Array.from({ length: table.size / relaSize }, (_, index) => {
    const at = index * relaSize;
    const symbol = entries.getUint32(at + 12, true);
    return {
      at: word(entries, at),
      type: entries.getUint32(at + 8, true),
      symbol: symbol === 0 ? undefined : dynamicSymbol(elf, symbols + symbol * symbolSize, names),
      addend: Number(entries.getBigInt64(at + 16, true)),
    };
  });
}

function dynamicSymbol(elf: Elf, address: number, names: Uint8Array): ElfSymbol {
  const bytes = memoryAt(elf, address, symbolSize);
  return readSymbol(view(bytes, 0, symbolSize, elf.name, "dynamic symbol"), 0, names, elf.name);
}
