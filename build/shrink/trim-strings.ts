import { view } from "../link/elf.ts";
import type { Range } from "./range.ts";

const wordSize = 4;
/** A string is named by a word: the string's number, and behind it these two bits. */
const tag = { bits: 2, value: 2 } as const;

/**
 * Returns the table of strings at the given place of the graph, without the strings that nothing else in the graph
 * names. The table has a count, the offset of each string, and the strings. Each string keeps its number; the offset of
 * one that is gone becomes the table's end. Every word that could name a string counts, of bytecode or not, so a few
 * unused strings stay.
 * @throws Error if the strings are not one behind the other
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

/** Returns, for each string's number, 1 if a word in `parts` may name it, otherwise 0. */
function namedStrings(parts: readonly Uint8Array[], count: number): Uint8Array {
  const isNamed = new Uint8Array(count);
  for (const word of parts.flatMap(wordsOf)) {
    const number = word >>> tag.bits;
    if (number < count && word % 2 ** tag.bits === tag.value) isNamed[number] = 1;
  }
  return isNamed;
}

/** Returns the whole 4-byte little-endian words of some bytes. */
function wordsOf(bytes: Uint8Array): number[] {
  const words = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  return Array.from({ length: Math.floor(bytes.length / wordSize) }, (_, index) =>
    words.getUint32(index * wordSize, true),
  );
}
