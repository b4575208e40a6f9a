/** What the first bytes of a file say of how the kernel executes it. */
export type FileHead =
  /** A program of Linux. `machine` is named as in images (`arm64`), `loader` is the path of its dynamic linker. */
  | { readonly kind: "elf"; readonly machine: string; readonly loader: string | undefined }
  /** A file that begins with `#!`. */
  | { readonly kind: "script"; readonly interpreter: string }
  /** A file that neither the kernel nor a shell can execute. */
  | { readonly kind: "foreign"; readonly what: string }
  /** Anything else: a script without `#!`, which a shell can execute. */
  | { readonly kind: "text" };

/** Returns up to `length` bytes of a file from `offset` on: fewer where the file ends. */
type ReadAt = (offset: number, length: number) => Uint8Array;

/** The bytes in which the kernel looks for `#!` and its line (linux include/uapi/linux/binfmts.h). */
const HEAD_BYTES = 256;

/** Parses the beginning of a file. Never throws, whatever the bytes are. */
export function parseHead(readAt: ReadAt): FileHead {
  const bytes = readAt(0, HEAD_BYTES);
  if (startsWith(bytes, [0x7f, 0x45, 0x4c, 0x46])) return parseElf(bytes, readAt);
  const line = bytes.subarray(0, ended(bytes, 0x0a));
  const [, interpreter] = /^#![ \t]*([^ \t\0]+)/.exec(decode(line)) ?? [];
  if (interpreter !== undefined) return { kind: "script", interpreter };
  return line.includes(0) ? { kind: "foreign", what: nameFormat(bytes) } : { kind: "text" };
}

/** Programs of other systems, by their first bytes. */
const formats: readonly (readonly [bytes: readonly number[], what: string])[] = [
  [[0xcf, 0xfa, 0xed, 0xfe], "a program for macOS"],
  [[0xca, 0xfe, 0xba, 0xbe], "a program for macOS, or a Java class"],
  [[0x4d, 0x5a], "a program for Windows"],
  [[0x00, 0x61, 0x73, 0x6d], "a WebAssembly module"],
  [[0x50, 0x4b, 0x03, 0x04], "a ZIP or JAR archive"],
];

function nameFormat(bytes: Uint8Array): string {
  return formats.find(([magic]) => startsWith(bytes, magic))?.[1] ?? "neither a program nor a script";
}

/** e_machine (elf.h), with the names that images have for it. */
const machines: Readonly<Record<number, string>> = {
  3: "386",
  21: "ppc64le",
  22: "s390x",
  40: "arm",
  62: "amd64",
  183: "arm64",
  243: "riscv64",
  258: "loong64",
};

/** The type of the program header that names the loader (elf.h, PT_INTERP). */
const LOADER = 3;
/** More program headers than any linker writes. */
const MOST_HEADERS = 256;
/** The longest path (PATH_MAX). */
const MOST_PATH = 4096;

function parseElf(bytes: Uint8Array, readAt: ReadAt): FileHead {
  const [is64, isLittle] = [bytes[4] === 2, bytes[5] !== 2];
  if (bytes.length < (is64 ? 64 : 52)) return { kind: "foreign", what: "a truncated program" };
  const header = numbersOf(bytes, isLittle, is64);
  const number = header.short(18);
  const machine = machines[number] ?? `machine ${number}`;
  const [size, count] = is64 ? [header.short(54), header.short(56)] : [header.short(42), header.short(44)];
  const from = is64 ? header.word(32) : header.word(28);
  const table = numbersOf(readAt(from, size * Math.min(count, MOST_HEADERS)), isLittle, is64);
  for (let at = 0; size > 0 && at < table.length; at += size) {
    if (table.int(at) !== LOADER) continue;
    const path = readAt(table.word(at + (is64 ? 8 : 4)), Math.min(table.word(at + (is64 ? 32 : 16)), MOST_PATH));
    return { kind: "elf", machine, loader: decode(path.subarray(0, ended(path, 0))) };
  }
  return { kind: "elf", machine, loader: undefined };
}

/** Reads numbers of an ELF file. What is beyond its end is 0. */
function numbersOf(bytes: Uint8Array, isLittle: boolean, is64: boolean) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const has = (at: number, size: number): boolean => at + size <= bytes.length;
  const int = (at: number): number => (has(at, 4) ? view.getUint32(at, isLittle) : 0);
  const long = (at: number): number => (has(at, 8) ? Number(view.getBigUint64(at, isLittle)) : 0);
  return {
    length: bytes.length,
    short: (at: number): number => (has(at, 2) ? view.getUint16(at, isLittle) : 0),
    int,
    word: is64 ? long : int,
  };
}

function startsWith(bytes: Uint8Array, magic: readonly number[]): boolean {
  return magic.every((byte, at) => bytes[at] === byte);
}

/** Returns the index of the first such byte, or the number of bytes. */
function ended(bytes: Uint8Array, byte: number): number {
  const at = bytes.indexOf(byte);
  return at < 0 ? bytes.length : at;
}

/** Decodes UTF-8; a byte order mark stays, because it hides `#!` from the kernel. */
function decode(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}
