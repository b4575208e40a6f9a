import { describe, expect, test } from "bun:test";
import type { Relocation } from "../../../build/link/elf-dynamic.ts";
import { type ElfSymbol, symbolKind } from "../../../build/link/elf-symbols.ts";
import { type Patch, type Runtime, resolveRelocations } from "../../../build/link/relocate.ts";
import { targetNamed } from "../../../build/targets.ts";

const types = { absolute: 1, copy: 5, globalData: 6, jump: 7, relative: 8, thread: 18 } as const;

const symbol = (name: string, rest: Partial<ElfSymbol> = {}): ElfSymbol => ({
  name,
  weak: false,
  local: false,
  kind: symbolKind.code,
  defined: false,
  value: 0,
  size: 0,
  ...rest,
});

const linked = [
  symbol("puts", { defined: true, value: 0x9000 }),
  symbol("constant", { defined: true, kind: symbolKind.object, value: 0x9100, size: 3 }),
  symbol("variable", { defined: true, kind: symbolKind.object, value: 0xa000, size: 8 }),
  symbol("once", { defined: true, kind: symbolKind.thread, value: 0x10 }),
  symbol("chosen_late", { defined: true, kind: symbolKind.indirect, value: 0x9200 }),
];

const runtime: Runtime = {
  symbols: new Map(linked.map((each) => [each.name, each])),
  shared: new Set(["environ"]),
  memoryAt: (address, size) => new Uint8Array(size).fill(address & 0xff || 1),
  isWritable: (address) => address >= 0xa000,
  threadOffset: (value) => value - 0x80,
  imageThreadBase: -0x40,
  lacking: ["libnew.so.1"],
};

const resolve = (...relocations: (Partial<Relocation> & { type: number })[]): Patch[] =>
  resolveRelocations(
    relocations.map((each) => ({ at: 0x4000, symbol: undefined, addend: 0, ...each })),
    runtime,
    targetNamed("x64"),
  );
const wordIn = (patch: Patch | undefined): bigint =>
  new DataView((patch?.bytes ?? new Uint8Array(8)).buffer).getBigInt64(0, true);

describe("a relocation is filled with", () => {
  test.each<[string, Partial<Relocation> & { type: number }, bigint]>([
    ["the address of the runtime's function in a PLT slot", { type: types.jump, symbol: symbol("puts") }, 0x9000n],
    ["the address of the runtime's function in the GOT", { type: types.globalData, symbol: symbol("puts") }, 0x9000n],
    [
      "the address and what is added to it in data",
      { type: types.absolute, symbol: symbol("puts"), addend: 5 },
      0x9005n,
    ],
    [
      "the address of what the executable defines itself",
      { type: types.absolute, symbol: symbol("puts", { defined: true, value: 0x4444 }) },
      0x4444n,
    ],
    [
      "the PLT entry that stands for a function whose address is taken",
      { type: types.globalData, symbol: symbol("puts", { value: 0x4455 }) },
      0x4455n,
    ],
    [
      "the function itself in that PLT entry's own slot",
      { type: types.jump, symbol: symbol("puts", { value: 0x4455 }) },
      0x9000n,
    ],
    [
      "zero for a weak symbol that nothing defines",
      { type: types.globalData, symbol: symbol("nowhere", { weak: true }) },
      0n,
    ],
    [
      "the runtime's symbol for a weak one that it defines",
      { type: types.globalData, symbol: symbol("puts", { weak: true }) },
      0x9000n,
    ],
    ["the addend alone where it is relative", { type: types.relative, addend: 0x1234 }, 0x1234n],
    [
      "the thread pointer's distance to a variable of the runtime",
      { type: types.thread, symbol: symbol("once"), addend: 4 },
      -0x6cn,
    ],
    [
      "that to a variable of the executable",
      { type: types.thread, symbol: symbol("own", { defined: true, value: 8 }) },
      -0x38n,
    ],
    ["that to the executable's block where it names no symbol", { type: types.thread, addend: 1 }, -0x3fn],
  ])("%s", (_, relocation, expected) => {
    expect(wordIn(resolve(relocation)[0])).toBe(expected);
  });
});

describe("a copied", () => {
  const copied = (name: string, size: number) => ({
    type: types.copy,
    symbol: symbol(name, { defined: true, kind: symbolKind.object, value: 0x4000, size }),
  });

  test("constant gets the runtime's bytes, and is found where it was copied to", () => {
    const copy = copied("constant", 2);
    const [patch, pointer] = resolve(copy, { type: types.globalData, symbol: copy.symbol });
    expect(patch?.bytes).toEqual(new Uint8Array([1, 1]));
    expect(wordIn(pointer)).toBe(0x4000n);
  });

  test("variable that both sides share is left as it is", () => {
    expect(resolve(copied("environ", 8))[0]?.bytes).toHaveLength(0);
  });

  test.each<[string, string, number, RegExp]>([
    [
      "variable that both sides do not share",
      "variable",
      8,
      /"variable" is a variable of the runtime .* sharedVariables/,
    ],
    [
      "constant that is larger in the executable",
      "constant",
      4,
      /"constant" has 4 bytes in the executable but 3 in the runtime/,
    ],
    ["constant that the runtime lacks", "nothing", 4, /"nothing", which the executable copies, is missing/],
  ])("%s is refused by name", (_, name, size, message) => {
    expect(() => resolve(copied(name, size))).toThrow(message);
  });
});

describe("refused is", () => {
  test("a strong symbol that nothing defines, all such in one message, each once", () => {
    const wanted = ["brand_new", "puts", "newer_still", "brand_new"];
    const link = () => resolve(...wanted.map((name) => ({ type: types.jump, symbol: symbol(name) })));
    expect(link).toThrow(/defines: brand_new, newer_still;.*libnew\.so\.1.*build\/link\/glue\.c/);
  });

  test("a relocation of an unknown kind, all such in one message, with what is known", () => {
    const kinds = [36, types.jump, 16, 99].map((type) => ({ type, symbol: symbol("puts") }));
    expect(() => resolve(...kinds)).toThrow(
      /R_X86_64_TLSDESC \(36\) of "puts" at 0x4000; R_X86_64_DTPMOD64 \(16\) .*; of type 99 of .* knows R_X86_64_64 \(1\)/,
    );
  });

  test("a variable that is copied, all such in one message", () => {
    const copies = ["variable", "variable", "nothing"].map((name) => ({
      type: types.copy,
      symbol: symbol(name, { defined: true, kind: symbolKind.object, value: 0x4000, size: 8 }),
    }));
    expect(() => resolve(...copies)).toThrow(/"variable" is a variable .*; "variable" .*; "nothing", which/);
  });

  test("what is wrong, in so many words that they can be read", () => {
    const many = Array.from({ length: 500 }, () => ({ type: 36 }));
    expect(() => resolve(...many)).toThrow(/of no symbol at 0x4000; and 490 more; it knows/);
  });

  test.each<[string, Partial<Relocation> & { type: number }, RegExp]>([
    [
      "a relocation type that is not known, with its number and symbol",
      { type: 37, symbol: symbol("puts") },
      /R_X86_64_IRELATIVE \(37\) of "puts" at 0x4000/,
    ],
    [
      "a plain address of a thread-local variable",
      { type: types.globalData, symbol: symbol("once") },
      /"once" is thread-local or an ifunc/,
    ],
    [
      "a function that is chosen at start",
      { type: types.jump, symbol: symbol("chosen_late") },
      /"chosen_late" is thread-local or an ifunc/,
    ],
    [
      "a thread-local reference to a function",
      { type: types.thread, symbol: symbol("puts") },
      /"puts" must be a thread-local variable/,
    ],
    ["a copy of nothing", { type: types.copy }, /copy relocation at 0x4000 has no symbol/],
  ])("%s", (_, relocation, message) => {
    expect(() => resolve(relocation)).toThrow(message);
  });
});

test("arm64 differs in the numbers only", () => {
  const relocation = { at: 0x4000, type: 1026, symbol: symbol("puts"), addend: 0 };
  expect(wordIn(resolveRelocations([relocation], runtime, targetNamed("arm64"))[0])).toBe(0x9000n);
});
