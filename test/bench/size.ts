import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { type Candidate, ebb } from "./candidates.ts";
import type { Figure } from "./figure.ts";
import { noTarget, number, targetColumns } from "./table.ts";

/** The executable's size. */
export const size: Figure = {
  name: "size",
  async run({ rivals }) {
    return [
      {
        title: "size of the executable",
        shows: ["MB of 10^6 bytes"],
        columns: ["", "size", "gzip -9", ...targetColumns],
        rows: [ebb, ...rivals].map(row),
      },
    ];
  },
};

function row({ name, path }: Candidate): string[] {
  const bytes = readFileSync(path);
  return [name, number(bytes.length / 1e6), number(gzipSync(bytes, { level: 9 }).length / 1e6), ...noTarget];
}
