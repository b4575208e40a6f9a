import { readFileSync, statSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { type Candidate, ebb } from "./candidates.ts";
import type { Figure } from "./figure.ts";
import { noTarget, number, targetColumns } from "./table.ts";

/** The executable's size. */
export const size: Figure = {
  name: "size",
  async run({ rivals, isQuick }) {
    return [
      {
        title: "size of the executable",
        shows: [`MB of 10^6 bytes${isQuick ? "; zstd takes a minute: not with --quick" : ""}`],
        columns: ["", "size", "blocks on disk", "gzip -9", "zstd -19", ...targetColumns],
        rows: [ebb, ...rivals].map((candidate) => row(candidate, isQuick)),
      },
    ];
  },
};

function row({ name, path }: Candidate, isQuick: boolean): string[] {
  const bytes = readFileSync(path);
  const sizes = [
    bytes.length,
    statSync(path).blocks * 512,
    gzipSync(bytes, { level: 9 }).length,
    ...(isQuick ? [] : [Bun.zstdCompressSync(bytes, { level: 19 }).length]),
  ];
  return [name, ...sizes.map((count) => number(count / 1e6)), ...(isQuick ? [""] : []), ...noTarget];
}
