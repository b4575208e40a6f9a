/**
 * What applying a relocation does, whatever number the architecture gives it: it writes a symbol's address plus an
 * addend (absolute), a function's address (jump), the addend alone (relative) or an offset from the thread pointer
 * (thread), or it copies a variable (copy).
 */
export type RelocationKind = "absolute" | "jump" | "copy" | "relative" | "thread";

/** What Bun makes an executable of. */
export type BunTarget = {
  /** Whether its executable runs in pods, static, or at a desk, with the commands that need no pod. */
  readonly kind: "pod" | "desk";
  readonly name: string;
  /** The value of `process.platform` on it. */
  readonly platform: "linux" | "darwin";
  /** The value of `bun build --target`. */
  readonly bunTarget: string;
  /** The npm package that holds its Bun: for a pod linked for musl. */
  readonly bunPackage: string;
};

/** Everything that differs between architectures; the code of the build knows nothing else about them. */
export type Target = BunTarget & {
  readonly kind: "pod";
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
  /** The program that runs the executable on a machine of another architecture. */
  readonly emulator: string;
};

/** Relocations: System V psABI x86-64, section 4.4.1. */
const x64: Target = {
  kind: "pod",
  name: "x64",
  platform: "linux",
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
  kind: "pod",
  name: "arm64",
  platform: "linux",
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

/** All targets of static executables. */
export const targets: readonly Target[] = [x64, x64Baseline, arm64];

const mac = { kind: "desk", platform: "darwin" } as const;
const macs: readonly BunTarget[] = [
  { ...mac, name: "darwin-arm64", bunTarget: "bun-darwin-arm64", bunPackage: "@oven/bun-darwin-aarch64" },
  { ...mac, name: "darwin-x64", bunTarget: "bun-darwin-x64", bunPackage: "@oven/bun-darwin-x64" },
];

/** The desk build for this machine, on which the tests of those commands run. */
const hostDesk: BunTarget = {
  kind: "desk",
  name: `linux-${process.arch}-desk`,
  platform: "linux",
  bunTarget: `bun-linux-${process.arch}`,
  bunPackage: `@oven/bun-linux-${process.arch === "arm64" ? "aarch64" : process.arch}`,
};

/** All that a release is built for. */
export const releaseTargets: readonly BunTarget[] = [...targets, ...macs];

/** Reports whether a target is that of a static executable, which runs in pods. */
export function isStatic(target: BunTarget): target is Target {
  return target.kind === "pod";
}

/** Returns a target's name with its system: `linux-x64`, `darwin-arm64`. */
export function platformOf(target: BunTarget): string {
  return target.kind === "pod" ? `linux-${target.name}` : target.name;
}

/** Returns the target of a name: `x64`, `darwin-arm64`, `desk` for this machine's. @throws Error if there is none */
export function targetNamed(name: NodeJS.Architecture): Target;
export function targetNamed(name: string): BunTarget;
export function targetNamed(name: string): BunTarget {
  const found = name === "desk" ? hostDesk : releaseTargets.find((target) => target.name === name);
  if (found !== undefined) return found;
  const known = [...releaseTargets.map((target) => target.name), "desk"].join(", ");
  throw new Error(`no target is named "${name}"; known are: ${known}`);
}
