import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { digestOf } from "../../build/evidence/sums.ts";
import { cacheFolder } from "../../build/setup/cache.mjs";
import { checkSums, moveIntoPlace, writeSums } from "../../build/setup/sums.mjs";

/** The version of Python for which `python/` pins packages. */
export const pythonVersion = "3.11";

/** That Python, as Debian has it. */
export const python = `/usr/bin/python${pythonVersion}`;

/**
 * Returns the folder with a set of Python's packages, for PYTHONPATH. `python/NAME.txt` has their versions and digests. pip
 * installs them once; each use checks them.
 */
export function pythonPackages(name: "airflow" | "ray"): string {
  const pins = join(import.meta.dirname, "python", `${name}.txt`);
  return made(name, readFileSync(pins), (target) => {
    const exactly = ["--no-deps", "--require-hashes", "--only-binary", ":all:", "--python-version", pythonVersion];
    const quietly = ["--quiet", "--no-input", "--no-compile", "--disable-pip-version-check"];
    run("python3", ["-m", "pip", "install", ...quietly, ...exactly, "--target", target, "--requirement", pins]);
  });
}

/** Returns a folder with a copy of Debian's /usr/lib/python3.11. */
export function pythonLibrary(): string {
  return made("library", Buffer.from(run(python, ["-VV"])), (target) =>
    run("cp", ["-r", `/usr/lib/python${pythonVersion}/.`, target]),
  );
}

/** The folders that this process has checked. */
const checked = new Set<string>();

/** Returns the folder in the cache that `make` has filled. */
function made(name: string, input: Uint8Array, make: (target: string) => void): string {
  const folder = join(cacheFolder(), "python", `${name}-${process.arch}-${digestOf(input).slice(0, 16)}`);
  if (checked.has(folder)) return folder;
  if (!existsSync(folder) || checkSums(folder) !== undefined) fill(folder, make);
  checked.add(folder);
  return folder;
}

/** Fills a folder, as a whole or not at all. */
function fill(folder: string, make: (target: string) => void): void {
  console.log(`making ${folder}, once`);
  mkdirSync(join(folder, ".."), { recursive: true });
  const target = mkdtempSync(`${folder}-`);
  try {
    make(target);
    compile(target);
    writeSums(target);
    moveIntoPlace(target, folder);
  } finally {
    rmSync(target, { recursive: true, force: true });
  }
}

/** Compiles what is in a folder. By default Python compares the times of files, which an image does not keep. */
function compile(folder: string): void {
  spawnSync(python, ["-m", "compileall", "-q", "-f", "--invalidation-mode", "unchecked-hash", folder]); // fails for templates
}

function run(program: string, words: readonly string[]): string {
  const { error, status, stdout, stderr } = spawnSync(program, words, { encoding: "utf8", maxBuffer: 2 ** 28 });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`${program} ${words.join(" ")}: ${stderr}`);
  return stdout;
}
