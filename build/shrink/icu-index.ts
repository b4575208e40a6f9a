import { alignUp } from "../link/elf.ts";

const header = 32;
const indexCount = 7;

/**
 * Returns the bytes of an ICU item `res_index.res`, which lists the locales of its folder: a resource bundle
 * (icu4c/source/common/uresdata.h) of one table, InstalledLocales, whose keys are the locales. Intl resolves a locale
 * that is not listed to the default locale.
 */
export function localeIndex(locales: readonly string[]): Uint8Array {
  const keysAt = (1 + indexCount) * 4;
  const keys = ["InstalledLocales", ...locales];
  const offsets = keys.map((_, index) => keys.slice(0, index).reduce((sum, key) => sum + key.length + 1, keysAt));
  const keysEnd = alignUp((offsets.at(-1) ?? keysAt) + (keys.at(-1)?.length ?? 0) + 1, 4);
  const rootAt = keysEnd + tableSize(locales.length);
  const end = rootAt + tableSize(1);
  const bytes = new Uint8Array(header + end);
  bytes.set([header, 0, 0xda, 0x27, 20, 0, 0, 0, 0, 0, 2, 0, ...Buffer.from("ResB"), 2, 0, 0, 0]);
  const bundle = new DataView(bytes.buffer, header);
  const indexes = [indexCount, keysEnd / 4, end / 4, end / 4, Math.max(locales.length, 1), noFallback, keysEnd / 4];
  [table | (rootAt / 4), ...indexes].forEach((value, index) => {
    bundle.setUint32(index * 4, value, true);
  });
  bytes.set(Buffer.from(keys.map((key) => `${key}\0`).join(""), "latin1"), header + keysAt);
  const emptyString = 0;
  writeTable(bundle, keysEnd, offsets.slice(1), emptyString);
  writeTable(bundle, rootAt, offsets.slice(0, 1), table | (keysEnd / 4));
  return bytes;
}

/** The type of a table; a resource has its type in its upper four bits. */
const table = 0x2000_0000;
const noFallback = 1;

function tableSize(count: number): number {
  return alignUp(2 + count * 2, 4) + count * 4;
}

/** Writes the keys' offsets, then `resource` as often. */
function writeTable(bundle: DataView, at: number, keys: readonly number[], resource: number): void {
  bundle.setUint16(at, keys.length, true);
  keys.forEach((key, index) => {
    bundle.setUint16(at + 2 + index * 2, key, true);
    bundle.setUint32(at + alignUp(2 + keys.length * 2, 4) + index * 4, resource, true);
  });
}
