/**
 * What applying a relocation does, whatever number the architecture gives it: it writes a symbol's address plus an
 * addend (absolute), a function's address (jump), the addend alone (relative) or an offset from the thread pointer
 * (thread), or it copies a variable (copy).
 */
export type RelocationKind = "absolute" | "jump" | "copy" | "relative" | "thread";

/** Everything that differs between architectures; the code of the build knows nothing else about them. */
export type Target = {
  readonly name: string;
  /** The value of `process.arch` on it. */
  readonly arch: string;
  /** `e_machine` of the ELF header. */
  readonly machine: number;
  /** The largest page size that kernels of this architecture use: segments are aligned to it. */
  readonly pageSize: number;
  /**
   * The side of the thread pointer on which thread-local blocks lie: below it (TLS variant II) or above it (variant I).
   */
  readonly threadBlocks: "below" | "above";
  /** The relocation numbers that the link can apply; it throws on any other. */
  readonly relocations: Readonly<Record<number, RelocationKind>>;
  /** The prefix of the tools' names in Debian: `<triplet>-gcc`, `<triplet>-ld`. */
  readonly triplet: string;
  /** The name of musl's folders: `/usr/lib/<musl>`, `/usr/include/<musl>`. */
  readonly musl: string;
  /** The value of `bun build --target`. */
  readonly bunTarget: string;
  /** The npm package that holds Bun linked for musl. */
  readonly bunPackage: string;
  /** The program that runs the executable on a machine of another architecture. */
  readonly emulator: string;
};

/** Relocations: System V psABI x86-64, section 4.4.1. */
const x64: Target = {
  name: "x64",
  arch: "x64",
  machine: 62,
  pageSize: 0x1000,
  threadBlocks: "below",
  relocations: { 1: "absolute", 5: "copy", 6: "absolute", 7: "jump", 8: "relative", 18: "thread" },
  triplet: "x86_64-linux-gnu",
  musl: "x86_64-linux-musl",
  bunTarget: "bun-linux-x64-musl",
  bunPackage: "@oven/bun-linux-x64-musl",
  emulator: "qemu-x86_64-static",
};

/** Relocations: ELF for the Arm 64-bit Architecture (aaelf64), section 5.7. */
const arm64: Target = {
  name: "arm64",
  arch: "arm64",
  machine: 183,
  pageSize: 0x10000,
  threadBlocks: "above",
  relocations: {
    257: "absolute",
    1024: "copy",
    1025: "absolute",
    1026: "jump",
    1027: "relative",
    1030: "thread",
  },
  triplet: "aarch64-linux-gnu",
  musl: "aarch64-linux-musl",
  bunTarget: "bun-linux-arm64-musl",
  bunPackage: "@oven/bun-linux-aarch64-musl",
  emulator: "qemu-aarch64-static",
};

/** For processors without AVX2: it differs from x64 only in the Bun that it takes. */
const x64Baseline: Target = {
  ...x64,
  name: "x64-baseline",
  bunTarget: "bun-linux-x64-musl-baseline",
  bunPackage: "@oven/bun-linux-x64-musl-baseline",
};

/** All targets that a release is built for. */
export const targets: readonly Target[] = [x64, x64Baseline, arm64];

/** Returns the target of a name, such as `x64`. @throws Error if there is none */
export function targetNamed(name: string): Target {
  const found = targets.find((target) => target.name === name);
  if (found !== undefined) return found;
  const known = targets.map((target) => target.name).join(", ");
  throw new Error(`no target is named "${name}"; known are: ${known}`);
}
