import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const path = join(import.meta.dirname, "kept-seeds.json");

/** Reads the seeds that have ever broken a promise: each run of the campaign begins with them. */
export function keptSeeds(): readonly number[] {
  return JSON.parse(readFileSync(path, "utf8")) as readonly number[];
}

/** Adds seeds to test/faults/kept-seeds.json, to be committed with the change that mends ebb. */
export function keepSeeds(seeds: Iterable<number>): void {
  const all = new Set([...keptSeeds(), ...seeds]);
  writeFileSync(path, `[${[...all].toSorted((a, b) => a - b).join(", ")}]\n`);
}
