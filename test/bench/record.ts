import { existsSync, readFileSync } from "node:fs";
import { ebbPath } from "../harness/ebb.ts";

// What figures that add up over runs have counted: a file with a line of JSON for each record.

/** Resolves with the first digits of the SHA-256 of the executable, which each record has as `ebb`. */
export async function digestOfEbb(): Promise<string> {
  const bytes = await Bun.file(ebbPath).bytes();
  return new Bun.CryptoHasher("sha256").update(bytes).digest("hex").slice(0, 16);
}

/** Reads the records of an executable, in their order; none if there is no file. Those of others stay in the file. */
export function readRecords<T extends { readonly ebb: string }>(file: string, ebb: string): readonly T[] {
  const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean) : [];
  return lines.map((line): T => JSON.parse(line)).filter((record) => record.ebb === ebb);
}
