import type { Target } from "../targets.ts";

type ScriptInput = {
  /** The address of the runtime's first byte. */
  readonly base: number;
  /** The addresses of symbols that are defined by the executable, not by the runtime. */
  readonly addresses: ReadonlyMap<string, number>;
  /** The symbols to link in if the archives have them. */
  readonly wanted: readonly string[];
  readonly target: Target;
};

/**
 * Returns ld's script for the runtime: read-only data, code and writable data at `base`, one thread-local image, arrays
 * of initialisers with those of the executable last (`.init_array.00000` is first). It places every section, because ld
 * runs with --orphan-handling=error, and asserts that the tables that only a loader would apply are empty.
 */
export function linkerScript({ base, addresses, wanted, target }: ScriptInput): string {
  return `ENTRY(ebb_image_entry)
${[...addresses].map(([name, address]) => `"${name}" = ${address};\n`).join("")}EXTERN(${wanted.map((name) => `"${name}"`).join(" ")})
PHDRS { ro PT_LOAD FLAGS(4); code PT_LOAD FLAGS(5); rw PT_LOAD FLAGS(6); tls PT_TLS FLAGS(4); }
SECTIONS {
  . = ${base};
  ebb_runtime_start = .;
  .rodata : { *(.rodata .rodata.* .stapsdt.base .data.rel.ro .data.rel.ro.* .got .got.plt .igot .igot.plt) } :ro
${initialisers}
  .eh_frame_hdr : { ebb_runtime_frames = .; *(.eh_frame_hdr) } :ro
  .eh_frame : { KEEP(*(.eh_frame .eh_frame.*)) } :ro
  .gcc_except_table : { *(.gcc_except_table .gcc_except_table.*) } :ro
  .rela : { *(.rela .rela.*) } :ro
  .tdata : { ${threadSections(target)} } :ro :tls
  . = ALIGN(${target.pageSize});
  .text : { *(.text .text.* .init .fini .iplt .plt .plt.*) } :code
  . = ALIGN(${target.pageSize});
  .data : { *(.data .data.* .tm_clone_table) } :rw
  .bss : { *(.bss .bss.* COMMON) } :rw
  ebb_runtime_end = .;
  _end = .;
  .symtab : { *(.symtab) }
  .strtab : { *(.strtab) }
  .shstrtab : { *(.shstrtab) }
  /DISCARD/ : { *(.comment .note .note.* .debug_* .ARM.attributes .gnu.* .note.gnu.property) }
}
ASSERT(SIZEOF(.rela) == 0, "the runtime has relocations left that nothing would apply (ifunc?)")
`;
}

/**
 * Initialisers are read-only, like the GOT and the tables of virtual functions: the link writes what a loader would
 * write.
 */
const initialisers = `  .init_array : {
    __preinit_array_start = .; __preinit_array_end = .;
    __init_array_start = .;
    KEEP(*(SORT_BY_INIT_PRIORITY(.init_array.[0-9]*)))
    KEEP(*(.init_array .ctors))
    KEEP(*(.init_array.ebb_image))
    __init_array_end = .;
    __fini_array_start = .;
    KEEP(*(SORT_BY_INIT_PRIORITY(.fini_array.[0-9]*)))
    KEEP(*(.fini_array .dtors))
    KEEP(*(.fini_array.ebb_image))
    __fini_array_end = .;
  } :ro`;

/** Orders thread-local sections: the executable's block comes last below the thread pointer, first above it. */
function threadSections(target: Target): string {
  const image = "*(.image_tdata)";
  const runtime = "*(.tdata .tdata.*) *(.tbss .tbss.* .tcommon)";
  return target.threadBlocks === "below" ? `${runtime} ${image}` : `${image} ${runtime}`;
}
