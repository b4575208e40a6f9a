import type { RelocationKind, Target } from "../targets.ts";
import { hex } from "./elf.ts";
import type { Relocation } from "./elf-dynamic.ts";
import { type ElfSymbol, symbolKind } from "./elf-symbols.ts";
import { relocationName } from "./relocation-names.ts";

/** The bytes that a relocation writes. */
export type Patch = {
  /** The address that they go to. */
  readonly at: number;
  /** Eight bytes or, for a copy, those of the variable; empty if executable and runtime share the variable. */
  readonly bytes: Uint8Array;
  readonly kind: RelocationKind;
  /** The name of its symbol; empty if it has none. */
  readonly symbol: string;
};

/** What applying the executable's relocations needs of the linked runtime. */
export type Runtime = {
  /** The symbols that it defines, by name. */
  readonly symbols: ReadonlyMap<string, ElfSymbol>;
  /** The names of the variables that it uses in the executable's memory, so that nothing is to be copied. */
  readonly shared: ReadonlySet<string>;
  /** Returns `size` bytes of its memory right after loading. */
  readonly memoryAt: (address: number, size: number) => Uint8Array;
  readonly isWritable: (address: number) => boolean;
  /** Returns the offset from the thread pointer of one of its thread-local symbols, given the symbol's value. */
  readonly threadOffset: (value: number) => number;
  /** The offset from the thread pointer of the beginning of the executable's own thread-local image. */
  readonly imageThreadBase: number;
  /** The names of the libraries that the executable needs besides those that were linked. */
  readonly lacking: readonly string[];
};

/**
 * Returns what a dynamic loader would write for each relocation of the executable, in their order.
 * @throws Error that lists the relocations of unknown type, the symbols that are missing, or the variables that cannot
 * be copied
 */
export function resolveRelocations(relocations: readonly Relocation[], runtime: Runtime, target: Target): Patch[] {
  const kinds = kindsOf(relocations, target);
  refuseMissing(relocations, runtime);
  const isCopy = (_: unknown, index: number): boolean => kinds[index] === "copy";
  refuseCopies(relocations.filter(isCopy), runtime);
  return relocations.map((relocation, index) => {
    const kind = kinds[index] as RelocationKind;
    const bytes = resolvers[kind](relocation, runtime);
    return { at: relocation.at, bytes, kind, symbol: relocation.symbol?.name ?? "" };
  });
}

/** Returns the kind of each relocation. @throws Error that lists all relocations of unknown type */
function kindsOf(relocations: readonly Relocation[], target: Target): RelocationKind[] {
  const unknown = relocations.filter(({ type }) => target.relocations[type] === undefined);
  if (unknown.length === 0) return relocations.map(({ type }) => target.relocations[type] as RelocationKind);
  const texts = unknown.map(({ type, at, symbol }) => {
    const name = relocationName(type, target.machine);
    return `${name} of ${symbol === undefined ? "no symbol" : `"${symbol.name}"`} at ${hex(at)}`;
  });
  const known = Object.keys(target.relocations).map((type) => relocationName(Number(type), target.machine));
  throw new Error(
    `relocations that the static link cannot apply: ${listed(texts)}; it knows ${known.join(", ")}: see build/targets.ts`,
  );
}

/** @throws Error that lists all symbols that neither side defines, unless they are weak */
function refuseMissing(relocations: readonly Relocation[], { symbols, lacking }: Runtime): void {
  const missing = relocations.flatMap(({ symbol }) =>
    symbol !== undefined && !symbol.defined && !symbol.weak && !symbols.has(symbol.name) ? [symbol.name] : [],
  );
  if (missing.length === 0) return;
  const libraries = lacking.length === 0 ? "" : ` (it also needs ${lacking.join(", ")})`;
  throw new Error(
    `neither libc.a, libstdc++.a, libgcc nor build/link/glue.c defines: ${[...new Set(missing)].join(", ")}; ` +
      `the executable needs it${libraries}, so it must be added to build/link/glue.c`,
  );
}

/** @throws Error that lists all variables that cannot be copied */
function refuseCopies(relocations: readonly Relocation[], runtime: Runtime): void {
  const wrong = relocations.flatMap((relocation) => copyWrong(relocation, runtime) ?? []);
  if (wrong.length > 0) throw new Error(listed(wrong));
}

/** Joins the first ten texts, and says how many more there are. */
function listed(texts: readonly string[]): string {
  const more = texts.length > 10 ? `; and ${texts.length - 10} more` : "";
  return `${texts.slice(0, 10).join("; ")}${more}`;
}

const resolvers: Readonly<Record<RelocationKind, (relocation: Relocation, runtime: Runtime) => Uint8Array>> = {
  absolute: ({ symbol, addend }, runtime) => word64(addressTaken(symbol, runtime) + addend),
  jump: ({ symbol }, runtime) => word64(addressOf(symbol, runtime)),
  relative: ({ addend }) => word64(addend),
  thread: ({ symbol, addend }, runtime) => word64(threadAddressOf(symbol, runtime) + addend),
  copy: copyOf,
};

/**
 * Returns the address of a symbol whose address the program may compare. An undefined symbol with a value is a function
 * whose address the executable's code takes; its value is the PLT entry that stands for the function, because pointers
 * to it must be equal everywhere (System V psABI x86-64, "Function Addresses").
 */
function addressTaken(symbol: ElfSymbol | undefined, runtime: Runtime): number {
  return symbol !== undefined && symbol.value !== 0 ? symbol.value : addressOf(symbol, runtime);
}

/**
 * Returns a symbol's address, 0 if nothing defines it. As for a loader, the executable's own definition, also of a
 * copied variable, comes before the runtime's.
 */
function addressOf(symbol: ElfSymbol | undefined, runtime: Runtime): number {
  if (symbol === undefined) return 0;
  if (symbol.defined) return symbol.value;
  const found = runtime.symbols.get(symbol.name);
  if (found === undefined) return 0;
  if (found.kind === symbolKind.thread || found.kind === symbolKind.indirect)
    throw new Error(
      `"${symbol.name}" is thread-local or an ifunc in the runtime, the executable wants a plain address`,
    );
  return found.value;
}

function threadAddressOf(symbol: ElfSymbol | undefined, runtime: Runtime): number {
  if (symbol === undefined) return runtime.imageThreadBase;
  if (symbol.defined) return runtime.imageThreadBase + symbol.value;
  const found = runtime.symbols.get(symbol.name);
  if (found?.kind === symbolKind.thread) return runtime.threadOffset(found.value);
  throw new Error(
    `"${symbol.name}" must be a thread-local variable of the runtime; it is ${found ? "another kind of symbol" : "missing"}`,
  );
}

/** Returns the bytes to copy; empty for a variable that both sides share. */
function copyOf({ symbol }: Relocation, { shared, symbols, memoryAt }: Runtime): Uint8Array {
  const found = symbol === undefined || shared.has(symbol.name) ? undefined : symbols.get(symbol.name);
  return found === undefined || symbol === undefined ? new Uint8Array(0) : memoryAt(found.value, symbol.size);
}

/** Says why a copy is wrong. A constant can be copied; a variable would exist twice, so both sides have to share it. */
function copyWrong({ symbol, at }: Relocation, { shared, symbols, isWritable }: Runtime): string | undefined {
  if (symbol === undefined) return `malformed: the copy relocation at ${hex(at)} has no symbol`;
  if (shared.has(symbol.name)) return undefined;
  const found = symbols.get(symbol.name);
  if (found === undefined) return `"${symbol.name}", which the executable copies, is missing in the runtime`;
  if (found.size < symbol.size)
    return `"${symbol.name}" has ${symbol.size} bytes in the executable but ${found.size} in the runtime`;
  if (isWritable(found.value))
    return `"${symbol.name}" is a variable of the runtime that the executable copies, so that there would be two; if it starts as zero, add it to sharedVariables in build/link/runtime.ts`;
  return undefined;
}

function word64(value: number): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigInt64(0, BigInt(value), true);
  return bytes;
}
