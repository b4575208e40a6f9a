import { createHash } from "node:crypto";

/** CS_ADHOC and CS_LINKER_SIGNED: no hardened runtime, whose rules ebb's compiler of machine code would break. */
export const AD_HOC = 0x20002;
const processors: Readonly<Record<number, string>> = { 16777223: "x64", 16777228: "arm64" };

/** Reads an executable for macOS (mach-o/loader.h) and its signature (XNU, cs_blobs.h). @throws Error if it has none */
export function readMachO(bytes: Buffer) {
  if (bytes.readUInt32LE(0) !== 0xfeedfacf) throw new Error("no Mach-O file of 64 bits");
  let at = 32;
  for (let left = bytes.readUInt32LE(16); bytes.readUInt32LE(at) !== 0x1d; left--) {
    if (left === 1) throw new Error("it has no LC_CODE_SIGNATURE");
    at += bytes.readUInt32LE(at + 4);
  }
  const [start, size] = [bytes.readUInt32LE(at + 8), bytes.readUInt32LE(at + 12)];
  const word = (offset: number): number => bytes.readUInt32BE(offset);
  // one blob, the code directory
  const directory = start + word(start + 16);
  if (word(start) !== 0xfade0cc0 || word(start + 8) !== 1 || word(directory) !== 0xfade0c02)
    throw new Error("its signature is not ad hoc");
  const [flags, hashes, count, limit] = [12, 16, 28, 32].map((field) => word(directory + field)) as [
    ...[number, number, number, number],
  ];
  const pageSize = 2 ** (bytes[directory + 39] as number);
  const wrongPages = Array.from({ length: Math.ceil(limit / pageSize) }, (_, page) => page).filter((page) => {
    const hash = createHash("sha256").update(bytes.subarray(page * pageSize, Math.min((page + 1) * pageSize, limit)));
    const from = directory + hashes + 32 * page;
    return page >= count || !hash.digest().equals(bytes.subarray(from, from + 32));
  });
  /** The bytes that are neither signed nor the signature. */
  const rest = start - limit + (bytes.length - start - size);
  return { processor: processors[bytes.readUInt32LE(4)], flags, wrongPages, rest };
}
