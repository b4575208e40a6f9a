import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { chartFiles } from "../build/chart/chart.ts";

/** Writes the chart into a folder, and returns its path. */
export function chartFolder(folder: string): string {
  const path = join(folder, "ebb");
  for (const [file, text] of chartFiles("")) {
    mkdirSync(dirname(join(path, file)), { recursive: true });
    writeFileSync(join(path, file), text);
  }
  return path;
}
