import { hex } from "./elf.ts";
import type { Relocation } from "./elf-dynamic.ts";
import { type ElfSymbol, symbolKind } from "./elf-symbols.ts";
import type { RelocationKind, Target } from "./targets.ts";

/** What a relocation puts where, and why. */
export type Patch = {
  readonly at: number;
  readonly bytes: Uint8Array;
  readonly kind: RelocationKind;
  /** Empty for relocations without a symbol. */
  readonly symbol: string;
};

/** The linked runtime, as the relocations of the executable see it. */
export type Runtime = {
  readonly symbols: ReadonlyMap<string, ElfSymbol>;
  /** Variables that the runtime was told to use in the executable's memory: nothing is to be copied. */
  readonly shared: ReadonlySet<string>;
  readonly memoryAt: (address: number, size: number) => Uint8Array;
  readonly isWritable: (address: number) => boolean;
  /** The offset from the thread pointer of a thread-local symbol of the runtime. */
  readonly threadOffset: (value: number) => number;
  /** The same for what lies at offset 0 of the executable's own thread-local image. */
  readonly imageThreadBase: number;
};

/** What a dynamic loader would write for each relocation of the executable, in their order. */
export function resolveRelocations(relocations: readonly Relocation[], runtime: Runtime, target: Target): Patch[] {
  const kinds = relocations.map((relocation) => kindOf(relocation, target));
  refuseMissing(relocations, runtime);
  return relocations.map((relocation, index) => {
    const kind = kinds[index] as RelocationKind;
    const bytes = resolvers[kind](relocation, runtime);
    return { at: relocation.at, bytes, kind, symbol: relocation.symbol?.name ?? "" };
  });
}

function kindOf({ type, at, symbol }: Relocation, target: Target): RelocationKind {
  const kind = target.relocations[type];
  if (kind !== undefined) return kind;
  throw new Error(
    `relocation type ${type} (of "${symbol?.name ?? ""}" at ${hex(at)}) is not among those of ${target.name} ` +
      `that the static link can apply: ${Object.keys(target.relocations).join(", ")}; add it to build/targets.ts`,
  );
}

/** All names that are missing, in one error. */
function refuseMissing(relocations: readonly Relocation[], runtime: Runtime): void {
  const missing = relocations.flatMap(({ symbol }) =>
    symbol !== undefined && !symbol.defined && !symbol.weak && !runtime.symbols.has(symbol.name) ? [symbol.name] : [],
  );
  if (missing.length === 0) return;
  throw new Error(
    `neither libc.a, libstdc++.a, libgcc nor build/glue.c defines: ${[...new Set(missing)].join(", ")}; ` +
      "the executable needs it, so it must be added to build/glue.c",
  );
}

const resolvers: Readonly<Record<RelocationKind, (relocation: Relocation, runtime: Runtime) => Uint8Array>> = {
  absolute: ({ symbol, addend }, runtime) => word64(addressTaken(symbol, runtime) + addend),
  jump: ({ symbol }, runtime) => word64(addressOf(symbol, runtime)),
  relative: ({ addend }) => word64(addend),
  thread: ({ symbol, addend }, runtime) => word64(threadAddressOf(symbol, runtime) + addend),
  copy: copyOf,
};

/**
 * An undefined symbol with a value: the PLT entry that stands for a function, because code of the executable takes
 * its address; pointers to it must be equal everywhere (System V psABI x86-64, "Function Addresses").
 */
function addressTaken(symbol: ElfSymbol | undefined, runtime: Runtime): number {
  return symbol !== undefined && symbol.value !== 0 ? symbol.value : addressOf(symbol, runtime);
}

/** The executable's own definition (a copied variable is one, too) comes before the runtime's, as for a loader. */
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

/** A constant is copied; a variable would exist twice, so it has to be one of those that both sides share. */
function copyOf({ symbol, at }: Relocation, runtime: Runtime): Uint8Array {
  if (symbol === undefined) throw new Error(`malformed: the copy relocation at ${hex(at)} has no symbol`);
  if (runtime.shared.has(symbol.name)) return new Uint8Array(0);
  const found = runtime.symbols.get(symbol.name);
  if (found === undefined) throw new Error(`"${symbol.name}", which the executable copies, is missing in the runtime`);
  if (found.size < symbol.size)
    throw new Error(`"${symbol.name}" has ${symbol.size} bytes in the executable but ${found.size} in the runtime`);
  if (runtime.isWritable(found.value))
    throw new Error(
      `"${symbol.name}" is a variable of the runtime that the executable copies, so that there would be two; if it starts as zero, add it to sharedVariables in build/runtime.ts`,
    );
  return runtime.memoryAt(found.value, symbol.size);
}

function word64(value: number): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigInt64(0, BigInt(value), true);
  return bytes;
}
