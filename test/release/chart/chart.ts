import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { chartFiles } from "../../../build/chart/chart.ts";

/** Writes the chart into a folder, and returns its path. */
export function chartIn(folder: string): string {
  const path = join(folder, "ebb");
  for (const [file, text] of chartFiles("registry.example.com/ebb")) {
    mkdirSync(dirname(join(path, file)), { recursive: true });
    writeFileSync(join(path, file), text);
  }
  return path;
}

/** Runs a program. Resolves with its exit code and with what it wrote to stdout, or to stderr if it failed. */
export async function run(...command: readonly string[]): Promise<{ readonly code: number; readonly output: string }> {
  const child = Bun.spawn([...command], { stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { code, output: code === 0 ? stdout : stderr };
}
