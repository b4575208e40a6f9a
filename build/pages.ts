import { readdirSync, readFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";

const folder = resolve(import.meta.dirname, "../src/manual");

/** Reads the pages of the manual, src/manual: the Markdown of each by its topic, in the order of the topics' names. */
export function manualPages(): Readonly<Record<string, string>> {
  const files = readdirSync(folder).toSorted();
  return Object.fromEntries(files.map((file) => [basename(file, ".md"), readFileSync(join(folder, file), "utf8")]));
}
