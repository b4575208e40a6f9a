import { readElf, resizeSegment, type Segment, segmentsOf, segmentType } from "../link/elf.ts";
import { findModuleGraph, type ModuleGraph, readModuleGraph } from "./module-graph.ts";
import type { Range } from "./range.ts";
import { trimStrings } from "./trim-strings.ts";

/** The alignment of bytecode: what is behind a cut moves by multiples of it. */
const alignment = 128;

/**
 * Returns a compiled executable without the bytecode that no start waits for: that of the modules in `names`, and that
 * of Bun's own modules, such as node:fs, which `ebb install` alone needs at its start (2.2 MB for 4 ms). With it go the
 * strings that nothing else names. Bun has one switch for all bytecode, and keeps the source in any case. `compiled`
 * stays as it is.
 */
export function trimBytecode(compiled: Uint8Array, names: readonly string[]): Uint8Array {
  const bytes = new Uint8Array(compiled);
  const elf = readElf(bytes, "compiled executable");
  const holder = segmentsOf(elf, segmentType.load)
    .toSorted((one, other) => one.offset - other.offset)
    .at(-1) as Segment;
  if (holder.fileSize !== holder.memorySize)
    throw new Error("compiled executable: its last segment does not end with the program");
  const { from, to } = findModuleGraph(bytes, { from: holder.offset, to: holder.offset + holder.fileSize });
  const graph = trimGraphStrings(trimGraph(bytes.subarray(from, to), names));
  bytes.fill(0, from, to);
  bytes.set(graph, from);
  new DataView(bytes.buffer).setBigUint64(from - 8, BigInt(graph.length), true);
  resizeSegment(bytes, elf, holder, from + graph.length - holder.offset);
  return bytes;
}

/** Returns Bun's module graph without the bytecode of the modules in `names` and of Bun's own modules. */
export function trimGraph(bytes: Uint8Array, names: readonly string[]): Uint8Array {
  const graph = readModuleGraph(bytes);
  const modules = graph.modules.filter(({ name }) => names.includes(name));
  const bytecode = [...modules.map((module) => module.bytecode), ...graph.internals];
  const copy = new Uint8Array(bytes);
  const fields = new DataView(copy.buffer);
  for (const at of modules.flatMap((module) => module.fields)) fields.setBigUint64(at, 0n, true);
  if (graph.countAt !== undefined) fields.setUint32(graph.countAt, 0, true);
  return cutGraph(copy, graph, [...bytecode.map(wholeUnits), graph.internalsTable]);
}

/** Returns Bun's module graph without the strings that nothing in it names. */
export function trimGraphStrings(bytes: Uint8Array): Uint8Array {
  const graph = readModuleGraph(bytes);
  const { strings } = graph;
  if (strings === undefined) return bytes;
  const { from, to, at } = strings;
  const kept = trimStrings(bytes, strings);
  const copy = new Uint8Array(bytes).fill(0, from, to);
  copy.set(kept, from);
  new DataView(copy.buffer).setUint32(at + 4, kept.length, true);
  return cutGraph(copy, graph, [wholeUnits({ from: from + kept.length, to })]);
}

/** Returns the graph without some ranges. First corrects, in `bytes`, the fields that point behind them. */
function cutGraph(bytes: Uint8Array, { pointers, end }: ModuleGraph, ranges: readonly Range[]): Uint8Array {
  const cuts = ranges.filter(({ from, to }) => from < to).toSorted((one, other) => one.from - other.from);
  const moved = (at: number): number => at - cuts.reduce((sum, { from, to }) => (from < at ? sum + to - from : sum), 0);
  const fields = new DataView(bytes.buffer);
  for (const at of pointers) fields.setUint32(at, moved(fields.getUint32(at, true)), true);
  fields.setBigUint64(end, BigInt(moved(end)), true);
  return without(bytes, cuts);
}

/** Shortens a range to a multiple of `alignment`. */
function wholeUnits({ from, to }: Range): Range {
  return { from, to: to - ((to - from) % alignment) };
}

function without(bytes: Uint8Array, cuts: readonly Range[]): Uint8Array {
  const starts = [0, ...cuts.map(({ to }) => to)];
  const ends = [...cuts.map(({ from }) => from), bytes.length];
  return Buffer.concat(starts.map((start, index) => bytes.subarray(start, ends[index])));
}
