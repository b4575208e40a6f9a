import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { cacheFolder } from "../setup/cache.mjs";
import { moveIntoPlace } from "../setup/sums.mjs";
import type { BunTarget } from "../targets.ts";

/** A release as package-lock.json pins it: `integrity` is `sha512-` and the archive's digest in base64. */
export type Locked = { readonly version: string; readonly integrity: string };

/**
 * Returns the path of the Bun for a target that package-lock.json pins. It is fetched once with `npm pack` (npm does not
 * install that of another system or libc) and checked against its digest there. @throws Error if none is pinned, if this
 * build runs in another version of Bun, or if the fetch fails
 */
export function fetchPinnedBun(target: BunTarget, lockfile: string): string {
  const locked = lockedBun(target, lockfile);
  refuseOtherVersion(locked.version, target.bunPackage);
  return fetchBun(target.bunPackage, locked);
}

/** The paths that this process has checked. */
const checked = new Set<string>();

/**
 * Returns the path of a release of Bun in the cache, from the npm package `name`. Fetches it if it is not there, or if
 * it is damaged, which `say` is told. A process checks each release once. @throws Error if the fetch fails
 */
export function fetchBun(name: string, locked: Locked, say: (line: string) => void = console.log): string {
  const folder = join(cacheFolder(), "bun", cacheName(name, locked));
  const bun = join(folder, executable);
  if (checked.has(bun)) return bun;
  const wrong = existsSync(folder) ? whyDamaged(folder, locked) : "";
  if (wrong !== undefined) {
    if (wrong !== "") say(`${folder} is damaged: ${wrong}; it is fetched again`);
    fetchInto(folder, name, locked);
  }
  checked.add(bun);
  return bun;
}

const archive = "package.tgz";
const executable = "package/bin/bun";

/** Compares the executable with its archive, and the archive with its digest. Returns what differs, or undefined. */
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

/** Returns the release of Bun that package-lock.json pins for a target. @throws Error if it pins none */
export function lockedBun({ bunPackage: name }: BunTarget, lockfile: string): Locked {
  const { packages } = JSON.parse(readFileSync(lockfile, "utf8")) as { packages?: Record<string, Partial<Locked>> };
  const { version, integrity } = packages?.[`node_modules/${name}`] ?? {};
  if (version !== undefined && integrity?.startsWith("sha512-")) return { version, integrity };
  throw new Error(
    `${lockfile} holds no version and sha512 of ${name}; add it to optionalDependencies in package.json and run npm install`,
  );
}

/** @throws Error unless this build runs in that version of Bun: bytecode is only valid for the Bun that compiled it */
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

/**
 * Fetches a release. It moves into place when it is complete, so that an interrupted build leaves nothing half done.
 */
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
