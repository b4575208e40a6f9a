/** e_machine of some processors (elf.h). */
const MACHINE = { "386": 3, amd64: 62, arm64: 183, s390x: 22 } as const;

interface SmallElf {
  readonly machine: keyof typeof MACHINE;
  /** The path in its program header of a loader; none without. */
  readonly loader?: string;
}

/** Returns an ELF file (elf(5)) with a header, at most one program header, and nothing to execute. */
export function smallElf({ machine, loader }: SmallElf): Uint8Array {
  const is64 = machine !== "386";
  const isLittle = machine !== "s390x";
  const [header, entry] = is64 ? [64, 56] : [52, 32];
  const path = new TextEncoder().encode(loader === undefined ? "" : `${loader}\0`);
  const bytes = new Uint8Array(header + entry + path.length);
  const view = new DataView(bytes.buffer);
  const word = (at: number, value: number): void =>
    is64 ? view.setBigUint64(at, BigInt(value), isLittle) : view.setUint32(at, value, isLittle);
  bytes.set([0x7f, 0x45, 0x4c, 0x46, is64 ? 2 : 1, isLittle ? 1 : 2, 1]);
  view.setUint16(16, 2, isLittle); // ET_EXEC
  view.setUint16(18, MACHINE[machine], isLittle);
  view.setUint32(20, 1, isLittle);
  word(is64 ? 32 : 28, header);
  view.setUint16(is64 ? 54 : 42, entry, isLittle);
  view.setUint16(is64 ? 56 : 44, loader === undefined ? 0 : 1, isLittle);
  view.setUint32(header, 3, isLittle); // PT_INTERP
  word(header + (is64 ? 8 : 4), header + entry);
  word(header + (is64 ? 32 : 16), path.length);
  bytes.set(path, header + entry);
  return bytes;
}
