import { view } from "../link/elf.ts";
import type { Range } from "./range.ts";

/** A module of the compiled program. */
export type Module = {
  /** The path by which Bun knows it: `/$bunfs/root/dispatch.js`. */
  readonly name: string;
  readonly bytecode: Range;
  /**
   * The offsets of two 8-byte fields: the place of its bytecode, and the place of the path under which that was made.
   */
  readonly fields: readonly number[];
};

/**
 * Bun's module graph, which `bun build --compile` puts into an executable. Offsets count from the graph's first byte.
 */
export type ModuleGraph = {
  readonly modules: readonly Module[];
  /** The bytecode of modules that are Bun's own, such as node:fs. */
  readonly internals: readonly Range[];
  /** The offset of the number of `internals`; undefined if the graph has no record of them. */
  readonly countAt: number | undefined;
  /** The entries of `internals`, behind that number; empty if there is no record of them. */
  readonly internalsTable: Range;
  /**
   * The table of the strings that all bytecode uses; `at` is the offset of the field with its place. Undefined: no such
   * table.
   */
  readonly strings: (Range & { readonly at: number }) | undefined;
  /**
   * The offsets of all fields that hold the place of something in the graph: its offset, then its length, 4 bytes each.
   */
  readonly pointers: readonly number[];
  /** The offset of the last record, whose first field holds this same number. */
  readonly end: number;
};

/**
 * The records behind the table of modules, in order, by their flags in Bun's src/standalone_graph; smaller flags have
 * no record.
 */
const recordFlags = {
  hashes: 0x20,
  internals: 0x40,
  strings: 0x80,
  startup: 0x100,
  names: 0x200,
  linked: 0x800,
} as const;
const knownFlags = 0xfff;
const trailer = Buffer.from("\n---- Bun! ----\n");
const moduleSize = 52;
/** The offsets, in a module's entry, of the places of its name, source, source map, bytecode, and more. */
const pointerFields = [0, 8, 16, 24, 32, 40];
const entrySize = 12;
const endSize = 32;

/**
 * Returns the place of Bun's module graph in a part of a file that ends with it; the 8 bytes before the graph hold its
 * length.
 * @throws Error if there is no graph, or if that length is not the one in its last record
 */
export function findModuleGraph(bytes: Uint8Array, { from, to }: Range): Range {
  const trailerAt = Buffer.from(bytes.buffer, bytes.byteOffset, to).lastIndexOf(trailer);
  if (trailerAt < from + endSize) throw new Error("module graph: no trailer of Bun's is there");
  const size = Number(view(bytes, trailerAt - endSize, 8, "module graph", "last record").getBigUint64(0, true));
  const graph = { from: trailerAt - endSize - size, to: trailerAt + trailer.length };
  const isThere = graph.from >= from + 8;
  if (
    isThere &&
    Number(view(bytes, graph.from - 8, 8, "module graph", "length").getBigUint64(0, true)) === graph.to - graph.from
  )
    return graph;
  throw new Error(`module graph: the length before it is not the one that its last record tells, ${size} bytes`);
}

/** Reads Bun's module graph. @throws Error if anything differs from what Bun 1.4.3 writes */
export function readModuleGraph(bytes: Uint8Array): ModuleGraph {
  const end = bytes.length - trailer.length - endSize;
  const graph = view(bytes, 0, bytes.length, "module graph", "content");
  const flags = graph.getUint32(end + 28, true);
  if (flags > knownFlags)
    throw new Error(`module graph: flags 0x${flags.toString(16)}, known are 0x${knownFlags.toString(16)}`);
  const range = (at: number): Range => readRange(graph, at, end);
  const table = range(end + 8);
  const modules = readModules(bytes, table, range);
  const records = findRecords(graph, { flags, from: table.to, modules: modules.length });
  const pointers = [
    ...modules.flatMap((_, index) => pointerFields.map((field) => table.from + index * moduleSize + field)),
    ...[records.strings, records.names, records.linked].filter((at) => at !== undefined),
    ...[end + 8, end + 20],
  ];
  for (const pointer of pointers) range(pointer);
  const countAt = records.internals;
  const internalsTable = entriesOf(graph, countAt);
  const count = (internalsTable.to - internalsTable.from) / entrySize;
  const internals = Array.from({ length: count }, (_, index) => range(internalsTable.from + index * entrySize + 4));
  const strings = records.strings === undefined ? undefined : { ...range(records.strings), at: records.strings };
  return { modules, internals, countAt, internalsTable, strings, pointers, end };
}

function readRange(graph: DataView, at: number, end: number): Range {
  const from = graph.getUint32(at, true);
  const to = from + graph.getUint32(at + 4, true);
  if (to > end) throw new Error(`module graph: ${to - from} bytes at ${from} are not in it`);
  return { from, to };
}

function readModules(bytes: Uint8Array, { from, to }: Range, range: (at: number) => Range): Module[] {
  if ((to - from) % moduleSize !== 0) throw new Error(`module graph: ${to - from} bytes are no table of modules`);
  return Array.from({ length: (to - from) / moduleSize }, (_, index) => {
    const at = from + index * moduleSize;
    const name = range(at);
    return {
      name: Buffer.from(bytes.subarray(name.from, name.to)).toString("latin1"),
      bytecode: range(at + 24),
      fields: [at + 24, at + 40],
    };
  });
}

type Records = Partial<Record<keyof typeof recordFlags, number>>;
type Place = { readonly flags: number; readonly from: number; readonly modules: number };

function findRecords(graph: DataView, { flags, from, modules }: Place): Records {
  const found: Records = {};
  let at = from;
  for (const name of Object.keys(recordFlags) as (keyof typeof recordFlags)[]) {
    if ((flags & recordFlags[name]) === 0) continue;
    found[name] = at;
    if (name === "hashes") at += 4 * modules;
    else if (name === "internals") at = entriesOf(graph, at).to;
    else at += name === "startup" ? 4 : 8;
  }
  return found;
}

/** Returns the entries of Bun's own modules. Each entry has a number, an offset and a length, 4 bytes each. */
function entriesOf(graph: DataView, countAt: number | undefined): Range {
  if (countAt === undefined) return { from: 0, to: 0 };
  return { from: countAt + 4, to: countAt + 4 + graph.getUint32(countAt, true) * entrySize };
}
