import { readElf, resizeSegment, type Segment, segmentsOf, segmentType } from "../link/elf.ts";
import { findModuleGraph, type ModuleGraph, readModuleGraph } from "./module-graph.ts";
import type { Range } from "./range.ts";
import { trimStrings } from "./trim-strings.ts";

/** Bytecode lies at multiples of this, so what is behind a cut moves by them. */
const alignment = 128;

/**
 * A compiled executable without the bytecode that no start waits for: that of some modules, and that of Bun's own, such as
 * node:fs, which ebb install alone needs at its start (2.2 MB for 4 ms). Bun has one switch for all of it, and keeps the source
 * in any case. With the bytecode go the strings that nothing else names.
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

/** The same graph without the bytecode of these modules and of Bun's own. */
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

/** The same graph without the strings that nothing in it names. */
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

function cutGraph(bytes: Uint8Array, { pointers, end }: ModuleGraph, ranges: readonly Range[]): Uint8Array {
  const cuts = ranges.filter(({ from, to }) => from < to).toSorted((one, other) => one.from - other.from);
  const moved = (at: number): number => at - cuts.reduce((sum, { from, to }) => (from < at ? sum + to - from : sum), 0);
  const fields = new DataView(bytes.buffer);
  for (const at of pointers) fields.setUint32(at, moved(fields.getUint32(at, true)), true);
  fields.setBigUint64(end, BigInt(moved(end)), true);
  return without(bytes, cuts);
}

function wholeUnits({ from, to }: Range): Range {
  return { from, to: to - ((to - from) % alignment) };
}

function without(bytes: Uint8Array, cuts: readonly Range[]): Uint8Array {
  const starts = [0, ...cuts.map(({ to }) => to)];
  const ends = [...cuts.map(({ from }) => from), bytes.length];
  return Buffer.concat(starts.map((start, index) => bytes.subarray(start, ends[index])));
}
