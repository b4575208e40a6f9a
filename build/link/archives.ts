import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { basename, join, sep } from "node:path";
import type { Target } from "../targets.ts";
import { findToolchain } from "./toolchain.ts";

/** A static library that is linked into the executable. */
export type Archive = {
  /** The file's name: `libc.a`. */
  readonly file: string;
  /** The path in its Debian package: `usr/lib/x86_64-linux-musl/libc.a`. */
  readonly path: string;
  /** The version of the project that made it: 1.2.3 of musl, 12.2.0 of GCC. */
  readonly version: string;
  /** The SHA-256, in hexadecimal. */
  readonly sha256: string;
  /** The Debian package that brought it; undefined if no package did. */
  readonly debian: DebianPackage | undefined;
};

type DebianPackage = { readonly name: string; readonly version: string; readonly architecture: string };

/**
 * Returns the build machine's archives (.a) for the static link, in the order in which ld searches them.
 * @throws Error if one is missing, or musl's version is not in libc.a
 */
export function linkedArchives(target: Target): readonly Archive[] {
  const { archives, gcc } = findToolchain(target);
  const gccVersion = spawnSync(gcc, ["-dumpfullversion"], { encoding: "utf8" }).stdout.trim();
  return archives.map((path) => {
    const bytes = readFileSync(path);
    return {
      file: basename(path),
      path: pathInPackage(path),
      version: basename(path) === "libc.a" ? muslVersion(bytes) : gccVersion,
      sha256: createHash("sha256").update(bytes).digest("hex"),
      debian: debianPackageOf(path, target),
    };
  });
}

/**
 * Returns musl's version, read from the bytes of its libc.a, which has it as a constant of its own: `version.lo`,
 * src/internal/version.c. @throws Error if it is not there
 */
export function muslVersion(libc: Buffer): string {
  const member = libc.indexOf("version.lo/", 0, "latin1");
  const [version] = /\d+\.\d+\.\d+/.exec(libc.toString("latin1", member + 60, member + 2000)) ?? [];
  if (member < 0 || version === undefined) throw new Error("libc.a does not tell musl's version");
  return version;
}

function pathInPackage(path: string): string {
  const real = realpathSync(path);
  return real.slice(real.lastIndexOf(`${sep}usr${sep}`) + 1);
}

// biome-ignore lint/suspicious/noTemplateCurlyInString: these are dpkg-query's
const debianFormat = "${Package} ${Version} ${Architecture}";

function debianPackageOf(path: string, target: Target): DebianPackage | undefined {
  const real = realpathSync(path);
  const owner = ask("dpkg-query", ["--search", real]).split(": ")[0] ?? "";
  if (owner === "") return unpackedPackageOf(real, target);
  const [name = "", version = "", architecture = ""] = ask("dpkg-query", [
    ...["--show", "--showformat", debianFormat, owner],
  ]).split(" ");
  return version === "" ? undefined : { name, version, architecture };
}

/**
 * Describes musl-dev of another architecture, which is unpacked, not installed: its changelog begins with its version.
 */
function unpackedPackageOf(path: string, { arch }: Target): DebianPackage | undefined {
  const root = path.slice(0, path.lastIndexOf(`${sep}usr${sep}`));
  const changelog = join(root, "usr", "share", "doc", "musl-dev", "changelog.Debian.gz");
  if (!existsSync(changelog)) return undefined;
  const [, version] = /^musl \(([^)]+)\)/.exec(new TextDecoder().decode(Bun.gunzipSync(readFileSync(changelog)))) ?? [];
  return version === undefined
    ? undefined
    : { name: "musl-dev", version, architecture: arch === "x64" ? "amd64" : arch };
}

/** Returns the trimmed output of a command; empty if it fails. */
function ask(command: string, words: readonly string[]): string {
  const { status, stdout } = spawnSync(command, words, { encoding: "utf8" });
  return status === 0 ? stdout.trim() : "";
}
