import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import type { Candidate } from "../candidates.ts";
import type { Row } from "./row.ts";

/**
 * Measures the executable's size, as it is and compressed as registries keep it, in MB of 10^6 bytes. The compression
 * takes half a minute; `isQuick` leaves it out.
 */
export function measureFile(tools: readonly Candidate[], isQuick: boolean): readonly Row[] {
  const values = (size: (path: string) => number) =>
    Object.fromEntries(tools.map(({ name, path }) => [name, [size(path) / 1e6]]));
  return [
    { what: "file, MB", values: values((path) => readFileSync(path).length), goals: [{ atMost: 100 }] },
    { what: "zstd -19 -T2, MB", values: isQuick ? {} : values(zstdBytes), goals: [{ atMost: 34 }] },
  ];
}

function zstdBytes(path: string): number {
  const { stdout, error } = spawnSync("zstd", ["-19", "-T2", "--stdout", "--quiet", path], { maxBuffer: 2 ** 30 });
  return error === undefined ? stdout.length : Number.NaN;
}
