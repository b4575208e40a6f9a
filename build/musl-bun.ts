import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { cacheFolder } from "./cache.mjs";
import type { Target } from "./targets.ts";

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

/** The path of a release of Bun, fetched where it is not in the cache yet. */
export function fetchedBun(name: string, locked: Locked): string {
  const folder = join(cacheFolder(), "bun", cacheName(name, locked));
  const bun = join(folder, "package", "bin", "bun");
  if (!existsSync(bun)) fetchInto(folder, name, locked);
  return bun;
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
function fetchInto(folder: string, name: string, { version, integrity }: Locked): void {
  mkdirSync(dirname(folder), { recursive: true });
  const temporary = mkdtempSync(`${folder}-`);
  try {
    run("npm", ["pack", "--silent", `${name}@${version}`, "--pack-destination", temporary], temporary);
    const archive = readdirSync(temporary).find((file) => file.endsWith(".tgz"));
    if (archive === undefined) throw new Error(`npm pack ${name}@${version} left no archive`);
    checkDigest(join(temporary, archive), integrity);
    run("tar", ["-xzf", archive, "package/bin/bun"], temporary);
    rmSync(join(temporary, archive));
    renameSync(temporary, folder);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

function checkDigest(path: string, integrity: string): void {
  const actual = `sha512-${createHash("sha512").update(readFileSync(path)).digest("base64")}`;
  if (actual !== integrity)
    throw new Error(`${path}: expected the digest of package-lock.json, ${integrity}, got ${actual}`);
}

function run(command: string, commandArguments: readonly string[], cwd: string): void {
  const { error, status, stderr } = spawnSync(command, commandArguments, { cwd, encoding: "utf8" });
  if (error !== undefined) throw new Error(`${command} cannot be run: ${error.message}`);
  if (status !== 0) throw new Error(`${command} ${commandArguments.join(" ")} failed: ${stderr.trim()}`);
}
