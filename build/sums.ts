import { createHash } from "node:crypto";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const sumsName = "SHA256SUMS";

/** Lists the files of a folder, as `sha256sum -c SHA256SUMS` reads it there. */
export function writeSums(folder: string, names: readonly string[]): void {
  const line = (name: string): string => `${digestOf(readFileSync(join(folder, name)))}  ${name}\n`;
  writeFileSync(join(folder, sumsName), names.toSorted().map(line).join(""));
}

/** Which file of a folder is not the one that is listed there; undefined: all are. */
export function checkSums(folder: string): string | undefined {
  if (!existsSync(join(folder, sumsName))) return `${sumsName} is missing`;
  const lines = readFileSync(join(folder, sumsName), "utf8").split("\n").filter(Boolean);
  const wrong = lines.map((line) => line.split("  ") as [string, string]).find((sum) => !isAsListed(folder, sum));
  return wrong && `${wrong[1]} has another digest than when it was made`;
}

function isAsListed(folder: string, [digest, name]: readonly [string, string]): boolean {
  const path = join(folder, name);
  return existsSync(path) && digestOf(readFileSync(path)) === digest;
}

/** Before the files change: what is there is never that of other files. */
export function removeSums(folder: string): void {
  rmSync(join(folder, sumsName), { force: true });
}

/** SHA-256 in hexadecimal. */
export function digestOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
