import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { muslFolder } from "../setup/cross.mjs";
import { installCommand } from "../setup/packages.mjs";
import type { Target } from "../targets.ts";

/** The programs and files of this machine that the static link uses. */
export type Toolchain = {
  /** The name of the compiler: `x86_64-linux-gnu-gcc`. */
  readonly gcc: string;
  /** The name of the linker. */
  readonly ld: string;
  /** The paths of the archives (.a), in the order in which ld searches them. */
  readonly archives: readonly string[];
  /** The folders of header files: the compiler's own, then musl's. */
  readonly includes: readonly string[];
};

/** Finds the toolchain for a target. @throws Error that names what is missing, and the command that installs it */
export function findToolchain(target: Target): Toolchain {
  const gcc = `${target.triplet}-gcc`;
  const ld = `${target.triplet}-ld`;
  refuseMissing(
    target,
    [gcc, ld].filter((tool) => spawnSync(tool, ["--version"]).error !== undefined),
  );
  const gccFiles = ["libstdc++.a", "libgcc_eh.a", "libgcc.a", "include"].map((name) => gccFile(gcc, name));
  const musl = muslFolder(target.arch) ?? "/usr";
  const libc = join(musl, "lib", target.musl, "libc.a");
  refuseMissing(
    target,
    [...gccFiles, libc].filter((path) => !path.startsWith("/") || !existsSync(path)),
  );
  const [libstdcxx = "", libgccEh = "", libgcc = "", include = ""] = gccFiles;
  return {
    gcc,
    ld,
    archives: [libstdcxx, libgccEh, libgcc, libc],
    includes: [include, join(musl, "include", target.musl)],
  };
}

/** Returns the whole path of a file of the compiler, or its bare name, which gcc prints if there is no such file. */
function gccFile(gcc: string, name: string): string {
  return spawnSync(gcc, [`-print-file-name=${name}`], { encoding: "utf8" }).stdout.trim();
}

function refuseMissing(target: Target, missing: readonly string[]): void {
  if (missing.length === 0) return;
  throw new Error(
    `the static link for ${target.name} needs what this machine lacks: ${missing.join(", ")}; install it with: ${installCommand(target.arch)}`,
  );
}
