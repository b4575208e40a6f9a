import { createHash } from "node:crypto";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const sumsName = "SHA256SUMS";

/** Lists the files of a folder, as `sha256sum -c SHA256SUMS` reads it there. */
export function writeSums(folder: string, names: readonly string[]): void {
  const line = (name: string): string => `${digestOf(readFileSync(join(folder, name)))}  ${name}\n`;
  writeFileSync(join(folder, sumsName), names.toSorted().map(line).join(""));
}

/** Before the files change: what is there is never that of other files. */
export function removeSums(folder: string): void {
  rmSync(join(folder, sumsName), { force: true });
}

/** SHA-256 in hexadecimal. */
export function digestOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
