import { describe, expect, test } from "bun:test";
import { type IcuPackage, readIcu, reduceIcu } from "../../../build/shrink/icu.ts";
import { missingItems } from "../../../build/shrink/icu-items.ts";

type Item = readonly [name: string, content: Uint8Array];

const raw = (text: string): Uint8Array => Uint8Array.from([32, 0, 0xda, 0x27, ...Buffer.from(text.padEnd(40, "."))]);
const frame = (text: string): Uint8Array => Uint8Array.from([0x28, 0xb5, 0x2f, 0xfd, ...Buffer.from(text.padEnd(20))]);
const named = (path: string): string => `icudt78l/${path}`;

/** What ICU needs, English, German, dictionaries, and the aliases and oddities among the names of locales. */
const paths = [
  ...missingItems([]),
  ...["de.res", "de_AT.res", "en_GB.res", "sr_Latn_BA.res", "no.res", "fil.res", "curr/de.res", "curr/en_001.res"],
  ...["brkitr/thaidict.dict", "coll/de_.res", "coll/de__PHONEBOOK.res", "coll/en.res", "rbnf/root.res", "ulayout.icu"],
];
const items = [...paths.map(named), named("zu.res")]
  .toSorted()
  .map((name, index): Item => [name, index % 2 === 0 ? raw(name) : frame(name)]);

/** A package with something before and after it, as in an executable. */
function packageOf(contents: readonly Item[], change: (bytes: Buffer, base: number) => void = () => undefined): Buffer {
  const before = 48;
  const base = before + 32;
  const header = Buffer.alloc(32);
  header.set([32, 0, 0xda, 0x27, 20, 0, 0, 0, 0, 0, 2, 0, ...Buffer.from("CmnD"), 1, 0, 0, 0]);
  const table = Buffer.alloc(4 + contents.length * 8);
  table.writeUInt32LE(contents.length, 0);
  const names = Buffer.from(contents.map(([name]) => `${name}\0`).join(""));
  let nameAt = table.length;
  let end = Math.ceil((table.length + names.length) / 16) * 16;
  const places = contents.map(([name, content], index) => {
    const at = end;
    table.writeUInt32LE(nameAt, 4 + index * 8);
    table.writeUInt32LE(at, 8 + index * 8);
    nameAt += name.length + 1;
    end = Math.ceil((at + content.length) / 16) * 16;
    return at;
  });
  const bytes = Buffer.alloc(base + end + 64, 0xee);
  for (const [part, at] of [
    [header, before],
    [table, base],
    [names, base + table.length],
  ] as const)
    bytes.set(part, at);
  contents.forEach(([, content], index) => {
    bytes.set(content, base + (places[index] as number));
  });
  change(bytes, base);
  return bytes;
}

const read = (bytes: Uint8Array): IcuPackage => readIcu(bytes, { from: 16, to: bytes.length });
const contentsOf = (bytes: Uint8Array, { base, items }: IcuPackage): Map<string, string> =>
  new Map(
    items.map(({ name, at }) => {
      const original = raw("").length;
      return [name, Buffer.from(bytes.subarray(base + at, base + at + original)).toString("latin1")];
    }),
  );

describe("reduceIcu()", () => {
  const bytes = packageOf(items);
  const whole = Buffer.from(bytes);
  const before = read(whole);
  const { dead, kept, dropped } = reduceIcu(bytes, before);
  const after = read(bytes);
  const names = after.items.map(({ name }) => name);

  test("keeps what belongs to no language, and English", () => {
    const gone = paths.map(named).filter((name) => !names.includes(name));
    const languages = ["de.res", "de_AT.res", "sr_Latn_BA.res", "no.res", "fil.res", "curr/de.res"];
    expect(gone).toEqual([...languages, "brkitr/thaidict.dict", "coll/de_.res", "coll/de__PHONEBOOK.res"].map(named));
    expect([kept, dropped]).toEqual([names.length, items.length - names.length]);
  });

  test("keeps the bytes of each item but the lists of locales", () => {
    const [old, now] = [contentsOf(whole, before), contentsOf(bytes, after)];
    const isSame = (name: string): boolean => (now.get(name) ?? "").startsWith((old.get(name) ?? "").slice(0, 24));
    expect(names.filter((name) => !isSame(name))).toEqual(names.filter((name) => name.endsWith("/res_index.res")));
  });

  test("lists the locales that are left", () => {
    const index = after.items.find(({ name }) => name === named("res_index.res"));
    const list = Buffer.from(bytes.subarray(after.base + (index?.at ?? 0), after.base + (index?.end ?? 0)));
    expect(list.toString("latin1")).toContain("InstalledLocales\0en\0en_GB\0\0");
  });

  test("names as dead what is between the items and the last one of before", () => {
    const end = after.base + (after.items.at(-1)?.at ?? 0);
    expect(dead.from).toBeGreaterThan(end);
    expect(dead.to).toBe(before.base + (before.items.at(-1)?.at ?? 0));
    expect(bytes.subarray(dead.from, dead.to).every((byte) => byte === 0)).toBe(true);
    expect(bytes.subarray(dead.to)).toEqual(whole.subarray(dead.to));
    expect(bytes.subarray(0, before.base)).toEqual(whole.subarray(0, before.base));
  });

  test("leaves the last item, whose size is told nowhere, where it is", () => {
    const small = packageOf(items.slice(0, -1));
    const { base, items: old } = read(small);
    reduceIcu(small, { base, items: old });
    expect(read(small).items.at(-1)).toEqual(old.at(-1) as never);
  });

  test("does the same again to its own work: nothing", () => {
    const again = Buffer.from(bytes);
    expect(reduceIcu(again, read(again)).dropped).toBe(0);
    expect(read(again).items.map(({ name }) => name)).toEqual(names);
  });

  test("refuses a package that lacks what Intl needs, and names it", () => {
    const small = packageOf(items.filter(([name]) => !/\/(en|uts46|curr\/root)\.(res|nrm)$/.test(name)));
    expect(() => reduceIcu(small, read(small))).toThrow(
      /lacks what Intl needs: .*en\.res.*curr\/root\.res.*uts46\.nrm/,
    );
  });
});

describe("readIcu() refuses", () => {
  const refused = (bytes: Uint8Array) => expect(() => read(bytes));

  test("a file without a package, or with two", () => {
    refused(Buffer.from("nothing here but CmnD, four letters")).toThrow(/expected one package .*found 0/);
    refused(Buffer.concat([packageOf(items), packageOf(items)])).toThrow(/found 2/);
  });

  test("another byte order, another format", () => {
    refused(packageOf(items, (bytes, base) => bytes.writeUInt8(1, base - 24))).toThrow(/got byte order 1/);
    refused(packageOf(items, (bytes, base) => bytes.writeUInt8(2, base - 16))).toThrow(/format 2/);
  });

  test("names that are not sorted", () => {
    refused(packageOf(items.toReversed())).toThrow(/not sorted by name: ".*" comes after/);
  });

  test("items that overlap, lie out of order, or are not aligned", () => {
    const close = packageOf(items, (bytes, base) => bytes.writeUInt32LE(bytes.readUInt32LE(base + 8) + 16, base + 16));
    refused(close).toThrow(/overlapping/);
    const swapped = packageOf(items, (bytes, base) => {
      const [one, other] = [bytes.readUInt32LE(base + 8), bytes.readUInt32LE(base + 16)];
      bytes.writeUInt32LE(other, base + 8);
      bytes.writeUInt32LE(one, base + 16);
    });
    refused(swapped).toThrow(/out of order/);
    const shifted = packageOf(items, (bytes, base) => bytes.writeUInt32LE(bytes.readUInt32LE(base + 8) + 4, base + 8));
    refused(shifted).toThrow(/not aligned/);
  });

  test("an item that begins as none does", () => {
    refused(packageOf(items.map(([name]) => [name, Buffer.alloc(64)]))).toThrow(/begins neither with a data header/);
  });

  test("more items than there can be", () => {
    refused(packageOf(items, (bytes, base) => bytes.writeUInt32LE(0xffffffff, base))).toThrow(/truncated or malformed/);
  });

  test("a package that ends anywhere before its last item", () => {
    const bytes = packageOf(items);
    const { base, items: all } = read(bytes);
    for (let length = 16; length < base + (all.at(-1)?.at ?? 0); length += 7)
      expect(() => read(bytes.subarray(0, length))).toThrow(/^ICU data: /);
  });
});
