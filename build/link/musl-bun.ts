import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { cacheFolder } from "../setup/cache.mjs";
import { moveIntoPlace } from "../setup/sums.mjs";
import type { Target } from "../targets.ts";

export type Locked = { readonly version: string; readonly integrity: string };

/**
 * The path of Bun linked for musl, fetched once with `npm pack` (npm does not install it on hosts with glibc) and
 * checked against the digest in package-lock.json.
 */
export function muslBun(target: Target, lockfile: string): string {
  const locked = lockedBun(target, lockfile);
  refuseOtherVersion(locked.version, target.bunPackage);
  return fetchedBun(target.bunPackage, locked);
}

/** Those that this process has checked. */
const checked = new Set<string>();

/** The path of a release of Bun, fetched where it is not in the cache yet, or where it is not what was fetched. */
export function fetchedBun(name: string, locked: Locked, say: (line: string) => void = console.log): string {
  const folder = join(cacheFolder(), "bun", cacheName(name, locked));
  const bun = join(folder, executable);
  if (checked.has(bun)) return bun;
  const wrong = existsSync(folder) ? whyDamaged(folder, locked) : "";
  if (wrong !== undefined) {
    if (wrong !== "") say(`${folder} is damaged: ${wrong}; it is fetched anew`);
    fetchInto(folder, name, locked);
  }
  checked.add(bun);
  return bun;
}

const archive = "package.tgz";
const executable = "package/bin/bun";

/** Compares the executable with the archive that it came in, and that with its digest; undefined: all is well. */
function whyDamaged(folder: string, { integrity }: Locked): string | undefined {
  for (const name of [archive, executable]) if (!existsSync(join(folder, name))) return `${name} is missing`;
  const actual = `sha512-${createHash("sha512")
    .update(readFileSync(join(folder, archive)))
    .digest("base64")}`;
  if (actual !== integrity) return `${archive}: expected ${integrity}, got ${actual}`;
  const inArchive = run("tar", ["-xzOf", archive, executable], folder);
  return inArchive.equals(readFileSync(join(folder, executable)))
    ? undefined
    : `${executable} is not that of ${archive}`;
}

/** What package-lock.json pins. */
export function lockedBun({ bunPackage: name }: Target, lockfile: string): Locked {
  const { packages } = JSON.parse(readFileSync(lockfile, "utf8")) as { packages?: Record<string, Partial<Locked>> };
  const { version, integrity } = packages?.[`node_modules/${name}`] ?? {};
  if (version !== undefined && integrity?.startsWith("sha512-")) return { version, integrity };
  throw new Error(
    `${lockfile} holds no version and sha512 of ${name}; add it to optionalDependencies in package.json and run npm install`,
  );
}

/** Bytecode is only valid for the Bun that compiled it. */
function refuseOtherVersion(version: string, name: string): void {
  if (process.versions.bun === version) return;
  throw new Error(
    `this build runs in Bun ${process.versions.bun ?? "(none)"}, ${name} is ${version}; pin both to the same version, then run npm ci`,
  );
}

function cacheName(name: string, { version, integrity }: Locked): string {
  const digest = Buffer.from(integrity.slice("sha512-".length), "base64").toString("hex").slice(0, 16);
  return `${name.replace("@", "").replaceAll("/", "-")}-${version}-${digest}`;
}

/** Moved into place when complete, so that an interrupted build leaves nothing half done. */
function fetchInto(folder: string, name: string, locked: Locked): void {
  const wanted = `${name}@${locked.version}`;
  mkdirSync(dirname(folder), { recursive: true });
  const temporary = mkdtempSync(`${folder}-`);
  try {
    run("npm", ["pack", "--silent", wanted, "--pack-destination", temporary], temporary);
    const packed = readdirSync(temporary).find((file) => file.endsWith(".tgz"));
    if (packed === undefined) throw new Error(`npm pack ${wanted} left no archive`);
    renameSync(join(temporary, packed), join(temporary, archive));
    run("tar", ["-xzf", archive, executable], temporary);
    const wrong = whyDamaged(temporary, locked);
    if (wrong !== undefined) throw new Error(`npm pack ${wanted}: ${wrong}`);
    moveIntoPlace(temporary, folder);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

function run(command: string, commandArguments: readonly string[], cwd: string): Buffer {
  const { error, status, stdout, stderr } = spawnSync(command, commandArguments, { cwd, maxBuffer: 2 ** 28 });
  if (error !== undefined) throw new Error(`${command} cannot be run: ${error.message}`);
  if (status !== 0) throw new Error(`${command} ${commandArguments.join(" ")} failed: ${stderr.toString().trim()}`);
  return stdout;
}
