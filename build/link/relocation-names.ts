/** The names in elf.h of the relocations that a loader may be asked for, by machine and number. Errors use them. */
const names: Readonly<Record<number, Readonly<Record<number, string>>>> = {
  62: {
    0: "R_X86_64_NONE",
    1: "R_X86_64_64",
    2: "R_X86_64_PC32",
    4: "R_X86_64_PLT32",
    5: "R_X86_64_COPY",
    6: "R_X86_64_GLOB_DAT",
    7: "R_X86_64_JUMP_SLOT",
    8: "R_X86_64_RELATIVE",
    10: "R_X86_64_32",
    11: "R_X86_64_32S",
    16: "R_X86_64_DTPMOD64",
    17: "R_X86_64_DTPOFF64",
    18: "R_X86_64_TPOFF64",
    21: "R_X86_64_DTPOFF32",
    23: "R_X86_64_TPOFF32",
    24: "R_X86_64_PC64",
    32: "R_X86_64_SIZE32",
    33: "R_X86_64_SIZE64",
    36: "R_X86_64_TLSDESC",
    37: "R_X86_64_IRELATIVE",
    38: "R_X86_64_RELATIVE64",
  },
  183: {
    0: "R_AARCH64_NONE",
    257: "R_AARCH64_ABS64",
    258: "R_AARCH64_ABS32",
    259: "R_AARCH64_ABS16",
    260: "R_AARCH64_PREL64",
    261: "R_AARCH64_PREL32",
    262: "R_AARCH64_PREL16",
    1024: "R_AARCH64_COPY",
    1025: "R_AARCH64_GLOB_DAT",
    1026: "R_AARCH64_JUMP_SLOT",
    1027: "R_AARCH64_RELATIVE",
    1028: "R_AARCH64_TLS_DTPMOD",
    1029: "R_AARCH64_TLS_DTPREL",
    1030: "R_AARCH64_TLS_TPREL",
    1031: "R_AARCH64_TLSDESC",
    1032: "R_AARCH64_IRELATIVE",
  },
};

/** Returns a relocation's name and number, `R_X86_64_TLSDESC (36)`, or `of type 99` if elf.h does not name it. */
export function relocationName(type: number, machine: number): string {
  const name = names[machine]?.[type];
  return name === undefined ? `of type ${type}` : `${name} (${type})`;
}
