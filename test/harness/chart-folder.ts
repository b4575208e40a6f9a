import { cpSync } from "node:fs";
import { join, resolve } from "node:path";

/** Copies the chart into a folder, and returns its path there. */
export function chartFolder(folder: string): string {
  const path = join(folder, "ebb");
  cpSync(resolve(import.meta.dirname, "../../build/chart"), path, { recursive: true });
  return path;
}
