/** What applying a relocation means, whatever number the architecture gives it. */
export type RelocationKind = "absolute" | "jump" | "copy" | "relative" | "thread";

/** Everything that differs between architectures; the code of the build knows nothing else about them. */
export type Target = {
  readonly name: string;
  /** As Node.js names it in `process.arch`. */
  readonly arch: string;
  /** `e_machine` of the ELF header. */
  readonly machine: number;
  /** The largest page size that kernels of this architecture use: segments are aligned to it. */
  readonly pageSize: number;
  /** Where thread-local blocks lie: below the thread pointer (TLS variant II) or above it (variant I). */
  readonly threadBlocks: "below" | "above";
  /** Relocation numbers that the link can apply; any other is refused by its number. */
  readonly relocations: Readonly<Record<number, RelocationKind>>;
  /** Debian's prefix of the tools: `<triplet>-gcc`, `<triplet>-ld`. */
  readonly triplet: string;
  /** Name of musl's folders: `/usr/lib/<musl>`, `/usr/include/<musl>`. */
  readonly musl: string;
  /** The value of `bun build --target`. */
  readonly bunTarget: string;
  /** The npm package that holds Bun linked for musl. */
  readonly bunPackage: string;
  /** Runs the executable where the machine is of another architecture. */
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

/** For processors without AVX2; the same in everything but Bun. */
const x64Baseline: Target = {
  ...x64,
  name: "x64-baseline",
  bunTarget: "bun-linux-x64-musl-baseline",
  bunPackage: "@oven/bun-linux-x64-musl-baseline",
};

export const targets: readonly Target[] = [x64, x64Baseline, arm64];

export function targetNamed(name: string): Target {
  const found = targets.find((target) => target.name === name);
  if (found !== undefined) return found;
  const known = targets.map((target) => target.name).join(", ");
  throw new Error(`no target is named "${name}"; known are: ${known}`);
}
