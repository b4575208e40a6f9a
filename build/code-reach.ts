import type { CodeReferences } from "./code-references.ts";
import { type Elf, type Segment, segmentFlag, segmentsOf, segmentType } from "./elf.ts";
import { readSymbols, symbolTable } from "./elf-symbols.ts";
import type { Range } from "./range.ts";

export type Reach = {
  /** How many bytes of code nothing leads to, whatever is called: what of the references was missed is among them. */
  readonly missed: number;
  /** Addresses of the code to which nothing leads but the doors, and the doors themselves. */
  readonly behindDoors: readonly Range[];
};

/** Parts of an executable: pieces of its code first, each from where only jumps, calls and taken addresses lead to; then of its data. */
type Parts = { readonly starts: Uint32Array; readonly codeCount: number; readonly code: Range };
/** Edges from one part: `to` from `first[part]` to `first[part + 1]`. */
type Graph = { readonly first: Uint32Array; readonly to: Uint32Array };
type Pointers = { readonly from: number[]; readonly to: number[] };

/**
 * Which code only some functions lead to. Too much is taken for a reference rather than too little: any number in an
 * instruction, any eight bytes of data that may be an address. Data leads to what it has up to where something else refers to;
 * all data that may be written, every symbol that is exported, and the entry are where it begins.
 */
export function reachCode(elf: Elf, references: CodeReferences, doors: readonly number[]): Reach {
  const code = codeOf(elf);
  const pointers = readPointers(elf);
  const parts = divide(references, pointers, code);
  const graph = connect(parts, references, pointers);
  const roots = [elf.entry, ...exported(elf), ...writable(elf, parts)].map((address) => partAt(parts, address));
  const open = reach(graph, parts, roots, new Set());
  const closed = new Set(doors.map((door) => doorAt(parts, door)));
  const withoutDoors = reach(graph, parts, roots, closed);
  const isBehind = (part: number): boolean => open[part] === 1 && withoutDoors[part] === 0;
  return {
    missed: size(pieces(parts, (part) => open[part] === 0)),
    behindDoors: pieces(parts, isBehind),
  };
}

function codeOf(elf: Elf): Range {
  const load = segmentsOf(elf, segmentType.load).find(({ flags }) => (flags & segmentFlag.execute) !== 0) as Segment;
  return { from: load.address, to: load.address + load.fileSize };
}

function imageOf(elf: Elf): Range {
  const loads = segmentsOf(elf, segmentType.load);
  return {
    from: Math.min(...loads.map(({ address }) => address)),
    to: Math.max(...loads.map(({ address, memorySize }) => address + memorySize)),
  };
}

function readPointers(elf: Elf): Pointers {
  const image = imageOf(elf);
  const found: Pointers = { from: [], to: [] };
  for (const { address, offset, fileSize, flags } of segmentsOf(elf, segmentType.load)) {
    if ((flags & segmentFlag.execute) !== 0) continue;
    const view = new DataView(elf.bytes.buffer, elf.bytes.byteOffset + offset, fileSize);
    for (let at = (8 - (address % 8)) % 8; at + 8 <= fileSize; at += 8) {
      const value = view.getUint32(at, true);
      if (view.getUint32(at + 4, true) !== 0 || value < image.from || value >= image.to) continue;
      found.from.push(address + at);
      found.to.push(value);
    }
  }
  return found;
}

function divide({ to, apart, behindCalls }: CodeReferences, pointers: Pointers, code: Range): Parts {
  const isCode = (address: number): boolean => address >= code.from && address < code.to;
  const inCode = new Set([code.from]);
  const inData = new Set([0]);
  for (const targets of [to, pointers.to])
    for (const target of targets) {
      if (!isCode(target)) inData.add(target);
      else if (apart.has(target) || behindCalls.has(target)) inCode.add(target);
    }
  const codeStarts = Uint32Array.from(inCode).sort();
  const dataStarts = Uint32Array.from(inData).sort();
  const starts = new Uint32Array(codeStarts.length + dataStarts.length);
  starts.set(codeStarts);
  starts.set(dataStarts, codeStarts.length);
  return { starts, codeCount: codeStarts.length, code };
}

/** The part that an address is in. */
function partAt({ starts, codeCount, code }: Parts, address: number): number {
  const isCode = address >= code.from && address < code.to;
  let [low, high] = isCode ? [0, codeCount - 1] : [codeCount, starts.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((starts[middle] as number) <= address) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** An address into the middle of code is no way into it, unless it is jumped to: such are the entries of jump tables. */
function connect(parts: Parts, { from, to, isJump, apart }: CodeReferences, pointers: Pointers): Graph {
  const { starts, codeCount, code } = parts;
  const edges: [from: number, to: number][] = [];
  const add = (source: number, target: number, jumps: boolean): void => {
    const part = partAt(parts, target);
    if (part < codeCount && !jumps && starts[part] !== target && target >= code.from) return;
    edges.push([partAt(parts, source), part]);
  };
  for (let part = 1; part < codeCount; part++) if (!apart.has(starts[part] as number)) edges.push([part - 1, part]);
  for (let index = 0; index < from.length; index++)
    add(from[index] as number, to[index] as number, isJump[index] === 1);
  pointers.from.forEach((source, index) => {
    add(source, pointers.to[index] as number, false);
  });
  const first = new Uint32Array(starts.length + 1);
  for (const [source] of edges) first[source + 1] = (first[source + 1] as number) + 1;
  for (let part = 0; part < starts.length; part++)
    first[part + 1] = (first[part + 1] as number) + (first[part] as number);
  const next = first.slice();
  const targets = new Uint32Array(edges.length);
  for (const [source, target] of edges) {
    const place = next[source] as number;
    targets[place] = target;
    next[source] = place + 1;
  }
  return { first, to: targets };
}

function exported(elf: Elf): number[] {
  return [...readSymbols(elf, symbolTable.dynamic).values()].map(({ value }) => value);
}

function writable(elf: Elf, { starts, codeCount }: Parts): number[] {
  const loads = segmentsOf(elf, segmentType.load).filter(({ flags }) => (flags & segmentFlag.write) !== 0);
  return [...starts.subarray(codeCount)].filter((address) =>
    loads.some((load) => address >= load.address && address < load.address + load.memorySize),
  );
}

function doorAt(parts: Parts, door: number): number {
  const part = partAt(parts, door);
  if (parts.starts[part] === door) return part;
  throw new Error(`no function begins at 0x${door.toString(16)}`);
}

function reach(
  { first, to }: Graph,
  { starts }: Parts,
  roots: readonly number[],
  closed: ReadonlySet<number>,
): Uint8Array {
  const seen = new Uint8Array(starts.length);
  const waiting = roots.filter((part) => !closed.has(part));
  for (const part of waiting) seen[part] = 1;
  for (let part = waiting.pop(); part !== undefined; part = waiting.pop())
    for (let edge = first[part] as number; edge < (first[part + 1] as number); edge++) {
      const target = to[edge] as number;
      if (seen[target] === 1 || closed.has(target)) continue;
      seen[target] = 1;
      waiting.push(target);
    }
  return seen;
}

/** Ranges of code; those that touch are one. */
function pieces({ starts, codeCount, code }: Parts, isMeant: (part: number) => boolean): Range[] {
  const ranges: { from: number; to: number }[] = [];
  for (let part = 0; part < codeCount; part++) {
    if (!isMeant(part)) continue;
    const from = starts[part] as number;
    const to = part + 1 < codeCount ? (starts[part + 1] as number) : code.to;
    const last = ranges.at(-1);
    if (last?.to === from) last.to = to;
    else ranges.push({ from, to });
  }
  return ranges;
}

function size(ranges: readonly Range[]): number {
  return ranges.reduce((sum, { from, to }) => sum + to - from, 0);
}
