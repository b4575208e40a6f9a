import { describe, expect, test } from "bun:test";
import { loadAt, readElf, segmentFlag, segmentType } from "../../../build/link/elf.ts";
import { readDynamic } from "../../../build/link/elf-dynamic.ts";
import { readSymbols, symbolTable } from "../../../build/link/elf-symbols.ts";
import { targetNamed } from "../../../build/targets.ts";
import { verify } from "../../../build/verify.ts";
import { dynamicProgram, everything, execute, link, x64 } from "./small-elf.ts";

const cpp = `
extern "C" int puts(const char *);
namespace std {
void __throw_length_error(const char *);
extern __thread void (*__once_call)();
}
extern "C" void __once_proxy();
static void called() { puts("called once"); }
struct Global { Global() { puts("constructed"); } ~Global() { puts("destroyed"); } } global;
int main(int count, char **) {
  std::__once_call = called;
  __once_proxy();
  if (count == 3) try { std::__throw_length_error("caught"); } catch (...) { return 7; }
  if (count == 2) std::__throw_length_error("far too long");
  return 5;
}`;

const typesIn = (bytes: Uint8Array): Set<number> =>
  new Set(readDynamic(readElf(bytes, "small")).relocations.map(({ type }) => type));

describe("a C program", () => {
  const input = dynamicProgram({ source: everything });
  const linked = link(input);

  test("with copied variables and PLT slots runs statically linked: threads, environment, initialisers and all", () => {
    expect([...typesIn(input)].toSorted()).toEqual([5, 7]);
    expect(execute(linked.bytes, "argument")).toEqual({
      status: 3,
      signal: null,
      stdout: "entered\nargument\n43 0 1 0 1\nleft\n",
      stderr: "",
    });
  });

  test("behaves the same where its code reaches everything through the GOT", () => {
    const linkOptions = ["-Wl,-z,dynamic-undefined-weak"];
    const throughGot = dynamicProgram({ source: everything, compileOptions: ["-fPIC", "-fno-plt"], linkOptions });
    expect(typesIn(throughGot)).toContain(6);
    expect(execute(link(throughGot).bytes, "argument").stdout).toBe("entered\nargument\n43 0 1 0 1\nleft\n");
  });

  test("gets bytes copied to memory that has no place in its file", () => {
    const inZeros = dynamicProgram({ source: everything, library: "void *stdout = 0;" });
    const elf = readElf(inZeros, "small");
    const stdout = readSymbols(elf, symbolTable.dynamic).get("stdout")?.value ?? 0;
    const { address, fileSize } = loadAt(elf, stdout, 8);
    expect(stdout).toBeGreaterThanOrEqual(address + fileSize);
    expect(execute(link(inZeros).bytes, "argument").stdout).toBe("entered\nargument\n43 0 1 0 1\nleft\n");
  });

  test("is linked to the same bytes each time", () => {
    expect(Buffer.compare(link(input).bytes, linked.bytes)).toBe(0);
  });

  test("asks for no loader and has every relocation applied", () => {
    verify({ input, output: linked.bytes, patches: linked.patches, target: x64 });
    expect(linked.patches).toHaveLength(readDynamic(readElf(input, "small")).relocations.length);
  });
});

describe("a C++ program", () => {
  const input = dynamicProgram({ source: cpp, language: "c++" });
  const { bytes, map } = link(input);

  test("shares thread-local variables with libstdc++, and has its globals constructed and destroyed", () => {
    expect(typesIn(input)).toContain(18);
    expect(execute(bytes)).toMatchObject({ status: 5, stdout: "constructed\ncalled once\ndestroyed\n" });
  });

  test("that does not catch an exception of libstdc++ is aborted with a message", () => {
    const { signal, stderr } = execute(bytes, "throw");
    expect(signal).toBe("SIGABRT");
    expect(stderr).toContain("what():  far too long");
  });

  test("that catches it goes on: both frame tables are found", () => {
    expect(execute(bytes, "throw", "catch").status).toBe(7);
  });

  test.each([".got", ".init_array", ".fini_array", ".data.rel.ro", ".image_tdata"])(
    "cannot write what a loader would protect in its libraries: %s",
    (section) => {
      const elf = readElf(bytes, "linked");
      const places = placesOf(section, map);
      expect(places.length).toBeGreaterThan(0);
      for (const { address, size } of places) expect(loadAt(elf, address, size).flags & segmentFlag.write).toBe(0);
    },
  );
});

/** The program with all relocations of one type made another's. */
function retyped(input: Uint8Array, from: number, to: number): Uint8Array {
  const changed = input.slice();
  const elf = readElf(changed, "small");
  const fields = new DataView(changed.buffer, changed.byteOffset);
  const wanted = readDynamic(elf).relocations.filter(({ type }) => type === from);
  for (let offset = 0; offset + 12 <= changed.length; offset += 8) {
    const isOne = wanted.some(({ at }) => fields.getBigUint64(offset, true) === BigInt(at));
    if (isOne && fields.getUint32(offset + 8, true) === from) fields.setUint32(offset + 8, to, true);
  }
  return changed;
}

/** Where ld's map says that it has put the sections of that name, or with that name's beginning. */
function placesOf(section: string, map: string): { readonly address: number; readonly size: number }[] {
  const linked = map.slice(map.indexOf("Linker script and memory map"));
  return [...linked.matchAll(/^ (\.\S+)\s+0x(\w+)\s+0x(\w+) \S/gm)]
    .filter(([, name]) => name === section || name?.startsWith(`${section}.`))
    .map(([, , address, size]) => ({
      address: Number.parseInt(address ?? "", 16),
      size: Number.parseInt(size ?? "", 16),
    }))
    .filter(({ size }) => size > 0);
}

describe("refused is", () => {
  test("a program that needs a function which the runtime lacks, by the function's name", () => {
    const source = "int brand_new(int); int main(void) { return brand_new(1); }";
    expect(() => link(dynamicProgram({ source, library: "int brand_new(int n) { return n; }" }))).toThrow(
      /defines: brand_new;/,
    );
  });

  test("a program that needs a library which is not linked, by the library's name", () => {
    const source = "int brand_new(int); int main(void) { return brand_new(1); }";
    const input = dynamicProgram({ source, library: "int brand_new(int n) { return n; }" });
    expect(() => link(input)).toThrow(/the executable needs it \(it also needs \S*library\.so\)/);
  });

  test("a program that chooses a function when it starts (ifunc)", () => {
    const chosen = "static int one(void) { return 1; } static void *choose(void) { return one; }";
    const source = `${chosen} int chosen(void) __attribute__((ifunc("choose"))); int main(void) { return chosen(); }`;
    expect(() => link(dynamicProgram({ source }))).toThrow(/cannot apply: R_X86_64_IRELATIVE \(37\) of/);
  });

  test("a program whose code itself would have to be changed", () => {
    const changed = retyped(dynamicProgram({ source: everything }), 7, 2);
    expect(() => link(changed)).toThrow(/cannot apply: R_X86_64_PC32 \(2\) of "\w+" at 0x\w+; R_X86_64_PC32/);
  });

  test.each([
    [16, "R_X86_64_DTPMOD64"],
    [17, "R_X86_64_DTPOFF64"],
    [21, "R_X86_64_DTPOFF32"],
    [23, "R_X86_64_TPOFF32"],
    [36, "R_X86_64_TLSDESC"],
  ])("a program that finds a thread-local variable in another way: %d, %s", (type, name) => {
    const input = dynamicProgram({ source: cpp, language: "c++" });
    const changed = retyped(input, 18, type);
    expect(() => link(changed)).toThrow(`${name} (${type}) of "_ZSt11__once_call"`);
  });

  test("a program that exports a function which the runtime has too", () => {
    const source = "char *strdup(const char *text) { return (char *)text; } int main(void) { return !strdup; }";
    const input = dynamicProgram({
      source: `${source} char *setlocale(int, char *); void *use = setlocale; char *getcwd(char *, long); void *other = getcwd;`,
      linkOptions: ["-Wl,--export-dynamic"],
    });
    expect(() => link(input)).toThrow(/exports functions .* there would be two: strdup/);
  });

  test("a program that needs a thread-local variable which the runtime lacks", () => {
    const source = "extern _Thread_local int lacking; int main(void) { return lacking; }";
    expect(() => link(dynamicProgram({ source, library: "_Thread_local int lacking = 1;" }))).toThrow(
      /defines: lacking;/,
    );
  });

  test("a symbol whose name would be an order to ld", () => {
    const input = dynamicProgram({ source: everything });
    input[Buffer.from(input).indexOf("pthread_join") + 2] = 0x22;
    expect(() => link(input)).toThrow(/no linker makes such names of symbols: \["pt\\"read_join"\]/);
  });

  test("a program header that nobody knows, by its type", () => {
    const input = dynamicProgram({ source: "int main(void) { return 0; }" });
    const elf = readElf(input, "small");
    const place = elf.segments.findIndex(({ type }) => type === segmentType.note);
    new DataView(input.buffer, input.byteOffset).setUint32(elf.segmentsOffset + place * 56, 0x6474e5ff, true);
    expect(() => link(input)).toThrow(/program headers of types that .* does not know: 0x6474e5ff/);
  });

  test.each<[string, number, number, RegExp]>([
    ["a position-independent program", 16, 3, /expected an executable at a fixed address .* got ELF type 3/],
    ["a program for another machine", 18, targetNamed("arm64").machine, /is for machine 183, x64 is machine 62/],
  ])("%s", (_, field, value, message) => {
    const input = dynamicProgram({ source: "int main(void) { return 0; }" });
    new DataView(input.buffer, input.byteOffset).setUint16(field, value, true);
    expect(() => link(input)).toThrow(message);
  });
});
