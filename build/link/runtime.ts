import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Target } from "../targets.ts";
import { alignUp, type Elf, readElf, segmentOf, segmentsOf, segmentType } from "./elf.ts";
import type { DynamicTable } from "./elf-dynamic.ts";
import { readSymbols, symbolTable } from "./elf-symbols.ts";
import { linkerScript } from "./linker-script.ts";
import { nodeApiHeaders } from "./native.ts";
import type { ThreadBlock } from "./thread-local.ts";
import { findToolchain, type Toolchain } from "./toolchain.ts";

/**
 * Variables of musl that start as zero, each with its aliases. The runtime uses the executable's copy of them. (On
 * arm64 the stack protector's canary is such a variable.)
 */
const sharedVariables: readonly (readonly string[])[] = [
  ["environ", "__environ", "_environ", "___environ"],
  ["__stack_chk_guard"],
];

/** The runtime begins at the next multiple of this above the executable (all page sizes divide it). */
const spacing = 0x10_0000;

type RuntimeInput = {
  /** The dynamically linked executable. */
  readonly image: Elf;
  /** The executable's dynamic table. */
  readonly dynamic: DynamicTable;
  readonly block: ThreadBlock;
  /** The paths of C files with what the archives lack. */
  readonly sources: readonly string[];
  readonly target: Target;
};

export type LinkedRuntime = {
  readonly elf: Elf;
  /** The names of its variables that lie in the executable's memory. */
  readonly shared: ReadonlySet<string>;
  /** The text of ld's map file, which says what was linked and why. */
  readonly map: string;
};

/**
 * Links the runtime, at a free address above the image: what libc, libstdc++, libgcc and the C files have of the
 * symbols that the image's relocations need. Runs gcc and ld in a temporary folder. @throws Error with their output if
 * they fail
 */
export function linkRuntime(input: RuntimeInput): LinkedRuntime {
  const tools = findToolchain(input.target);
  const folder = mkdtempSync(join(tmpdir(), "ebb-link-"));
  try {
    const shared = sharedAddresses(input.dynamic, input.target);
    writeFileSync(join(folder, "image.s"), imageBlockSource(input.block));
    writeFileSync(join(folder, "script.ld"), scriptFor(input, shared));
    compileSources(input, tools, folder);
    run(tools.ld, linkArguments(input, tools), folder);
    const elf = readElf(readFileSync(join(folder, "runtime.elf")), "linked runtime");
    return { elf, shared: new Set(shared.keys()), map: readFileSync(join(folder, "runtime.map"), "utf8") };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Returns the address in the executable of each variable that both sides share, by its name and its aliases. */
function sharedAddresses({ relocations }: DynamicTable, target: Target): ReadonlyMap<string, number> {
  return new Map(
    sharedVariables.flatMap((names) => {
      const copy = relocations.find(
        ({ type, symbol }) => target.relocations[type] === "copy" && names.includes(symbol?.name ?? ""),
      );
      return copy === undefined ? [] : names.map((name) => [name, copy.at] as const);
    }),
  );
}

function scriptFor({ image, dynamic, target }: RuntimeInput, shared: ReadonlyMap<string, number>): string {
  const loads = segmentsOf(image, segmentType.load);
  const start = Math.min(...loads.map((load) => load.address));
  const end = Math.max(...loads.map((load) => load.address + load.memorySize));
  const own = imageAddresses(image, dynamic);
  return linkerScript({
    base: alignUp(end, spacing),
    addresses: new Map([["ebb_image_start", start], ["ebb_image_end", end], ...own, ...nodeApi(image), ...shared]),
    wanted: wantedSymbols(dynamic, shared, target),
    target,
  });
}

/** Returns the symbols of the image that the runtime uses. musl calls `_init` and `_fini` around the arrays. */
function imageAddresses(image: Elf, { init, fini, initArray, finiArray }: DynamicTable): [string, number][] {
  return [
    ["ebb_image_entry", image.entry],
    ["ebb_image_frames", segmentOf(image, segmentType.frames)?.address ?? 0],
    ["ebb_image_init_start", initArray.address],
    ["ebb_image_init_end", initArray.address + initArray.size],
    ["ebb_image_fini_start", finiArray.address],
    ["ebb_image_fini_end", finiArray.address + finiArray.size],
    ...(init === undefined ? [] : [["_init", init] as [string, number]]),
    ...(fini === undefined ? [] : [["_fini", fini] as [string, number]]),
  ];
}

/** Returns the Node-API functions of the image, which modules like src/native/module.c call. */
function nodeApi(image: Elf): readonly [string, number][] {
  const exported = [...readSymbols(image, symbolTable.dynamic).values()];
  return exported.filter(({ name }) => name.startsWith("napi_")).map(({ name, value }) => [name, value]);
}

/**
 * Returns the symbols that the image needs. Weak ones count too: the archives may have them, as shared libraries would.
 */
function wantedSymbols({ relocations }: DynamicTable, shared: ReadonlyMap<string, number>, target: Target): string[] {
  const wanted = relocations.flatMap(({ type, symbol }) =>
    symbol !== undefined && (!symbol.defined || target.relocations[type] === "copy") ? [symbol.name] : [],
  );
  const odd = wanted.filter((name) => !/^[\w.$@]+$/.test(name));
  if (odd.length > 0) throw new Error(`malformed: no linker makes such names of symbols: ${JSON.stringify(odd)}`);
  return [...new Set(wanted)].filter((name) => !shared.has(name));
}

function imageBlockSource({ size, align }: ThreadBlock): string {
  return `.section .image_tdata,"awT",%progbits
.balign ${align}
.globl ebb_image_block
.type ebb_image_block, %object
.size ebb_image_block, ${size}
ebb_image_block: .zero ${size}
.section .note.GNU-stack,"",%progbits
`;
}

/**
 * Compiles the C files: without a stack protector, because they may run before there is a canary, and without PIE,
 * because the runtime has a fixed address.
 */
function compileSources({ sources }: RuntimeInput, { gcc, includes }: Toolchain, folder: string): void {
  const warnings = ["-Wall", "-Wextra", "-Werror", "-Wstrict-prototypes"];
  const code = ["-std=gnu17", "-O2", "-fno-pie", "-fno-stack-protector", "-U_FORTIFY_SOURCE"];
  const headers = ["-nostdinc", ...[...includes, nodeApiHeaders].flatMap((include) => ["-isystem", include])];
  sources.forEach((source, index) => {
    run(gcc, [...warnings, ...code, ...headers, "-c", resolve(source), "-o", objectName(index)], folder);
  });
  run(gcc, ["-c", "image.s", "-o", "image.o"], folder);
}

function objectName(index: number): string {
  return `source-${index}.o`;
}

function linkArguments({ target, sources }: RuntimeInput, { archives }: Toolchain): string[] {
  const page = `max-page-size=${target.pageSize}`;
  const options = ["-static", "-nostdlib", "--eh-frame-hdr", "--orphan-handling=error"];
  const output = ["-T", "script.ld", "-Map", "runtime.map", "-o", "runtime.elf"];
  const objects = [...sources.map((_, index) => objectName(index)), "image.o"];
  return [
    ...options,
    "-z",
    "noexecstack",
    "-z",
    page,
    ...output,
    ...objects,
    "--start-group",
    ...archives,
    "--end-group",
  ];
}

function run(command: string, commandArguments: readonly string[], cwd: string): void {
  const env = { ...process.env, LC_ALL: "C" };
  const { error, status, stderr } = spawnSync(command, commandArguments, { cwd, env, encoding: "utf8" });
  if (error !== undefined) throw new Error(`${command} cannot be run: ${error.message}`);
  if (status !== 0) throw new Error(`${command} failed:\n${stderr.trim().split("\n").slice(0, 20).join("\n")}`);
}
