import { readdirSync, readFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";

const folder = resolve(import.meta.dirname, "../src/manual");

/** The text of each topic of the manual, in the order of their names. */
export function manualPages(): Readonly<Record<string, string>> {
  const files = readdirSync(folder).toSorted();
  return Object.fromEntries(files.map((file) => [basename(file, ".md"), readFileSync(join(folder, file), "utf8")]));
}
