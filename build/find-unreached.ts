// bun build/find-unreached.ts: writes build/unreached.json for the pinned Bun for x86-64, whose code it reads with objdump. Takes a minute.
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { reachCode } from "./code-reach.ts";
import { readCodeReferences } from "./code-references.ts";
import { readElf, segmentsOf, segmentType } from "./elf.ts";
import { muslBun } from "./musl-bun.ts";
import { targetNamed } from "./targets.ts";
import { codeDigest, type Door, type Unreached } from "./unreached.ts";

/** What of Bun's code is behind these doors. */
export async function findUnreached(
  path: string,
  doors: readonly Door[],
): Promise<Unreached & { readonly missed: number }> {
  const elf = readElf(new Uint8Array(readFileSync(path)), path);
  const ends = segmentsOf(elf, segmentType.load).map(({ address, memorySize }) => address + memorySize);
  const starts = segmentsOf(elf, segmentType.load).map(({ address }) => address);
  const references = await readCodeReferences(path, { from: Math.min(...starts), to: Math.max(...ends) });
  const { missed, behindDoors } = reachCode(
    elf,
    references,
    doors.map(({ at }) => Number.parseInt(at, 16)),
  );
  const ranges = behindDoors.map(({ from, to }) => `${from.toString(16)}-${to.toString(16)}`);
  return { code: codeDigest(elf), doors, ranges, missed };
}

if (import.meta.main) {
  const table = join(import.meta.dirname, "unreached.json");
  const { doors } = JSON.parse(readFileSync(table, "utf8")) as Unreached;
  const bun = muslBun(targetNamed("x64"), resolve(import.meta.dirname, "..", "package-lock.json"));
  const { missed, ...found } = await findUnreached(bun, doors);
  writeFileSync(table, `${JSON.stringify(found, null, 2)}\n`);
  process.stdout.write(`${found.ranges.length} ranges; nothing leads to ${missed} bytes of code\n`);
}
