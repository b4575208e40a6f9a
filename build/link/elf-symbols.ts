import { type Elf, view, word } from "./elf.ts";

/** An entry of a symbol table. */
export type ElfSymbol = {
  readonly name: string;
  /** Whether its binding is weak: it may stay undefined. */
  readonly weak: boolean;
  /** Whether its binding is local: other files do not see it. */
  readonly local: boolean;
  /** One of `symbolKind`, or another type of elf.h. */
  readonly kind: number;
  /** Whether this file defines it. */
  readonly defined: boolean;
  /** An address; for a thread-local symbol its offset in the thread-local image. */
  readonly value: number;
  /** The size in bytes. */
  readonly size: number;
};

/** Types of symbols, by their numbers in elf.h (System V gABI, chapter 4, "Symbol Table"); `indirect` is an ifunc. */
export const symbolKind = { object: 1, code: 2, thread: 6, indirect: 10 } as const;
/** The size of a symbol's entry, in bytes. */
export const symbolSize = 24;

const sectionSize = 64;
/** The types of the sections that hold symbols: `.symtab` of a linked file, and `.dynsym`, which a loader reads. */
export const symbolTable = { all: 2, dynamic: 11 } as const;

/**
 * Returns the symbols that a file defines and that are not local, by name. They are read from the section of type
 * `table`, one of `symbolTable`. @throws Error if there is no such section
 */
export function readSymbols(elf: Elf, table: number): ReadonlyMap<string, ElfSymbol> {
  const [symbols, names] = symbolSections(elf, table);
  const entries = view(symbols, 0, symbols.length, elf.name, "symbol table");
  const found = new Map<string, ElfSymbol>();
  for (let at = 0; at + symbolSize <= symbols.length; at += symbolSize) {
    const symbol = readSymbol(entries, at, names, elf.name);
    if (symbol.defined && !symbol.local) found.set(symbol.name, symbol);
  }
  return found;
}

function symbolSections(elf: Elf, type: number): readonly [Uint8Array, Uint8Array] {
  const header = view(elf.bytes, 0, 64, elf.name, "ELF header");
  const start = word(header, 40);
  const count = header.getUint16(60, true);
  const table = view(elf.bytes, start, count * sectionSize, elf.name, "section header table");
  for (let index = 0; index < count; index++) {
    if (table.getUint32(index * sectionSize + 4, true) !== type) continue;
    const names = table.getUint32(index * sectionSize + 40, true);
    if (names >= count) throw new Error(`${elf.name}: malformed: the symbol table names section ${names} of ${count}`);
    return [section(elf, table, index), section(elf, table, names)];
  }
  throw new Error(`${elf.name}: has no symbol table (section type ${type})`);
}

function section(elf: Elf, table: DataView, index: number): Uint8Array {
  const offset = word(table, index * sectionSize + 24);
  const size = word(table, index * sectionSize + 32);
  view(elf.bytes, offset, size, elf.name, `section ${index}`);
  return elf.bytes.subarray(offset, offset + size);
}

/** Reads the symbol at byte `at` of a symbol table. `names` is its string table; `file` names the file in errors. */
export function readSymbol(entries: DataView, at: number, names: Uint8Array, file: string): ElfSymbol {
  const binding = entries.getUint8(at + 4) >> 4;
  return {
    name: readName(names, entries.getUint32(at, true), file),
    weak: binding === 2,
    local: binding === 0,
    kind: entries.getUint8(at + 4) & 15,
    defined: entries.getUint16(at + 6, true) !== 0,
    value: word(entries, at + 8),
    size: word(entries, at + 16),
  };
}

/**
 * Reads the string at `offset` of a string table, up to its NUL. @throws Error, naming `file`, if it is not in the
 * table
 */
export function readName(names: Uint8Array, offset: number, file: string): string {
  const end = names.indexOf(0, offset);
  if (offset >= names.length || end < 0)
    throw new Error(`${file}: malformed: a name at ${offset} lies outside the string table of ${names.length} bytes`);
  return new TextDecoder().decode(names.subarray(offset, end));
}
