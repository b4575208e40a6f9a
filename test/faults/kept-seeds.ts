import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const path = join(import.meta.dirname, "kept-seeds.json");

/** The seeds that have ever broken a promise: each run of the campaign begins with them. */
export function keptSeeds(): readonly number[] {
  return JSON.parse(readFileSync(path, "utf8")) as readonly number[];
}

/** Writes down more of them; they are to be committed with what mends them. */
export function keepSeeds(seeds: Iterable<number>): void {
  const all = new Set([...keptSeeds(), ...seeds]);
  writeFileSync(path, `[${[...all].toSorted((a, b) => a - b).join(", ")}]\n`);
}
