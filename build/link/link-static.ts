import { composeExecutable } from "../bundle/compose.ts";
import type { Target } from "../targets.ts";
import { type Elf, elfType, hex, loadAt, memoryAt, readElf, segmentFlag, segmentOf, segmentType } from "./elf.ts";
import { readDynamic } from "./elf-dynamic.ts";
import { type ElfSymbol, readSymbols, symbolKind, symbolTable } from "./elf-symbols.ts";
import { type Patch, type Runtime, resolveRelocations } from "./relocate.ts";
import { type LinkedRuntime, linkRuntime } from "./runtime.ts";
import { checkThreadBlock, type ThreadBlock, threadBlock, threadOffset } from "./thread-local.ts";

type LinkInput = {
  /** A dynamically linked ELF executable for musl at a fixed address (ET_EXEC). */
  readonly bytes: Uint8Array;
  /** The name that error messages give it. */
  readonly name: string;
  /** The paths of C files with what libc and libstdc++ lack: glue.c, and what the executable needs besides. */
  readonly sources: readonly string[];
  readonly target: Target;
};

export type LinkResult = {
  /** The static executable. */
  readonly bytes: Uint8Array;
  /** What was written for each relocation of the input, in their order. */
  readonly patches: readonly Patch[];
  /** The text of ld's map file for the runtime: which members of which archives are inside, and why. */
  readonly map: string;
};

/** Matches the names of the shared libraries whose archives are linked in; musl's libc.a takes the place of most. */
const linkedLibraries = /^lib(c\.musl-\w+|c|m|pthread|dl|rt|util|crypt|resolv|stdc\+\+|gcc_s)\.so(\.\d+)?$/;

/**
 * Makes a static executable from a dynamically linked one. The libraries that a loader would have brought are linked at
 * a free address above it, and its relocations are applied in the file. Runs gcc and ld.
 * @throws Error on anything that it does not know how to link, and if gcc or ld fails
 */
export function linkStatic({ bytes, name, sources, target }: LinkInput): LinkResult {
  const image = readElf(bytes, name);
  refuseOtherKinds(image, target);
  const dynamic = readDynamic(image);
  const block = threadBlock(segmentOf(image, segmentType.thread), target);
  const linked = linkRuntime({ image, dynamic, block, sources, target });
  const { runtime, blockAddress } = inspect(linked, { block, needed: dynamic.needed, target });
  refuseRivals(readSymbols(image, symbolTable.dynamic), runtime.symbols);
  const patches = resolveRelocations(dynamic.relocations, runtime, target);
  const { pageSize } = target;
  const entry = runtime.symbols.get("ebb_entry")?.value ?? image.entry;
  return {
    bytes: composeExecutable({ image, runtime: linked.elf, patches, block, blockAddress, entry, pageSize }),
    patches,
    map: linked.map,
  };
}

function refuseOtherKinds({ name, type, machine, segments }: Elf, target: Target): void {
  if (machine !== target.machine)
    throw new Error(`${name}: is for machine ${machine}, ${target.name} is machine ${target.machine}`);
  const known: readonly number[] = Object.values(segmentType);
  const unknown = segments.filter((segment) => !known.includes(segment.type)).map((segment) => hex(segment.type));
  if (unknown.length > 0)
    throw new Error(`${name}: has program headers of types that the static link does not know: ${unknown.join(", ")}`);
  if (type === elfType.executable) return;
  throw new Error(
    `${name}: expected an executable at a fixed address (ET_EXEC, ${elfType.executable}), got ELF type ${type}; ` +
      "a position-independent one would have to be moved when it starts, and nothing would do that",
  );
}

/** Returns what applying the relocations needs of the linked runtime, and the address of the block reserved in it. */
function inspect(
  { elf, shared }: LinkedRuntime,
  {
    block,
    needed,
    target,
  }: { readonly block: ThreadBlock; readonly needed: readonly string[]; readonly target: Target },
): { runtime: Runtime; blockAddress: number } {
  const symbols = readSymbols(elf, symbolTable.all);
  const merged = segmentOf(elf, segmentType.thread);
  const reserved = symbols.get("ebb_image_block");
  if (merged === undefined || reserved === undefined) throw new Error("the linked runtime has no thread-local image");
  checkThreadBlock(merged, reserved.value, block, target);
  const runtime: Runtime = {
    symbols,
    shared,
    memoryAt: (address, size) => memoryAt(elf, address, size),
    isWritable: (address) => (loadAt(elf, address, 1).flags & segmentFlag.write) !== 0,
    threadOffset: (value) => threadOffset(merged, value, target),
    imageThreadBase: block.base,
    lacking: needed.filter((library) => !linkedLibraries.test(library)),
  };
  return { runtime, blockAddress: merged.address + reserved.value };
}

/**
 * @throws Error if the executable exports a function that the runtime has too: a loader would make the libraries call
 * the executable's, but linked statically they call their own
 */
function refuseRivals(exported: ReadonlyMap<string, ElfSymbol>, linked: ReadonlyMap<string, ElfSymbol>): void {
  const rivals = [...exported.values()].filter(({ name, kind, value }) => {
    const rival = linked.get(name);
    return kind === symbolKind.code && rival !== undefined && rival.value !== value;
  });
  if (rivals.length === 0) return;
  const names = rivals.map(({ name }) => name).join(", ");
  throw new Error(
    `the executable exports functions that the linked runtime has too, so that there would be two: ${names}`,
  );
}
