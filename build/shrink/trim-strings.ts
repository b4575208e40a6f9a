import { view } from "../link/elf.ts";
import type { Range } from "./range.ts";

const wordSize = 4;
/** What names a string is a word: its number, and these two bits behind it. */
const tag = { bits: 2, value: 2 } as const;

/**
 * The table of strings that is at this place of the graph, without those that nothing else in the graph names. It has a count,
 * the offset of each string, and the strings. Each keeps its number; the offset of one that is gone is the table's end. Every word
 * that could name a string counts, whether it is one of bytecode or not: a few strings stay that nothing names.
 */
export function trimStrings(graph: Uint8Array, { from, to }: Range): Uint8Array {
  const table = graph.subarray(from, to);
  const fields = view(table, 0, table.length, "module graph", "strings");
  const count = fields.getUint32(0, true);
  const offsetAt = (number: number): number => wordSize * (number + 1);
  const offsets = [...wordsOf(table.subarray(wordSize, offsetAt(count))), table.length];
  const isOrdered = offsets.every((offset, number) => offset <= (offsets[number + 1] ?? offset));
  if (offsets[0] !== offsetAt(count) || !isOrdered || from % wordSize !== 0 || to % wordSize !== 0)
    throw new Error("module graph: its strings are not one behind the other");
  const isNamed = namedStrings([graph.subarray(0, from), graph.subarray(to)], count);
  const kept = new Uint8Array(table);
  let end = offsetAt(count);
  const places = offsets.slice(0, count).map((start, number) => {
    if (isNamed[number] !== 1) return undefined;
    const place = end;
    kept.copyWithin(place, start, offsets[number + 1]);
    end += (offsets[number + 1] as number) - start;
    return place;
  });
  const keptFields = new DataView(kept.buffer);
  for (const [number, place] of places.entries()) keptFields.setUint32(offsetAt(number), place ?? end, true);
  return kept.subarray(0, end);
}

/** 1 for each number of a string that a word may be. */
function namedStrings(parts: readonly Uint8Array[], count: number): Uint8Array {
  const isNamed = new Uint8Array(count);
  for (const word of parts.flatMap(wordsOf)) {
    const number = word >>> tag.bits;
    if (number < count && word % 2 ** tag.bits === tag.value) isNamed[number] = 1;
  }
  return isNamed;
}

function wordsOf(bytes: Uint8Array): number[] {
  const words = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  return Array.from({ length: Math.floor(bytes.length / wordSize) }, (_, index) =>
    words.getUint32(index * wordSize, true),
  );
}
