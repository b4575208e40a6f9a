import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

/** An npm package that has code in the bundle. */
type BundledPackage = {
  readonly name: string;
  readonly version: string;
  /** An SPDX expression. */
  readonly license: string;
  /** The text of its licence. */
  readonly text: string;
  /** The SHA-512 of its archive in the registry, in hexadecimal, from package-lock.json. */
  readonly sha512: string;
};

/** What `Bun.build` tells of its work: the inputs of an output are the files whose code it contains. */
type Metafile = { readonly outputs: Record<string, { readonly inputs: Record<string, unknown> }> };

/**
 * Returns the npm packages whose code is in the bundle of `entry`, sorted by name: not all that are installed. Code
 * that is loaded lazily counts too. Bundles `entry` to find out. Rejects if a package names no licence, has no text of
 * it, or has no SHA-512 in package-lock.json, whose path `lockfile` is.
 */
export async function bundledPackages(entry: string, lockfile: string): Promise<readonly BundledPackage[]> {
  const folders = new Set((await bundledFiles(entry)).flatMap(packageFolder));
  const locked = JSON.parse(readFileSync(lockfile, "utf8")).packages as Record<string, { integrity?: string }>;
  return [...folders]
    .map((folder) => readPackage(folder, locked))
    .toSorted((one, other) => order(one.name, other.name));
}

/** Returns the paths of the files whose code is in the bundle of `entry`. */
async function bundledFiles(entry: string): Promise<readonly string[]> {
  const options = { target: "bun", minify: true, splitting: true, metafile: true } as const;
  const { outputs } = (await Bun.build({ entrypoints: [entry], ...options })).metafile as Metafile;
  return Object.values(outputs).flatMap(({ inputs }) => Object.keys(inputs).map((path) => resolve(path)));
}

function packageFolder(path: string): readonly string[] {
  const [, folder] = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path) ?? [];
  return folder === undefined ? [] : [folder];
}

function readPackage(folder: string, locked: Record<string, { integrity?: string }>): BundledPackage {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const place = folder.slice(folder.indexOf("/node_modules/") + 1);
  const { integrity = "" } = locked[place] ?? {};
  if (typeof license !== "string") throw new Error(`${place}: package.json names no licence`);
  if (!integrity.startsWith("sha512-")) throw new Error(`${place}: package-lock.json has no sha512`);
  return { name, version, license, text: licenseText(folder, name), sha512: hexOf(integrity) };
}

function licenseText(folder: string, name: string): string {
  const file = readdirSync(folder).find((each) => /^(licen[cs]e|copying)(\.\w+)?$/i.test(each));
  if (file === undefined) throw new Error(`${name} has no text of its licence`);
  return readFileSync(join(folder, file), "utf8").trim();
}

/** Converts a digest of package-lock.json (Subresource Integrity: `sha512-` and base64) to hexadecimal. */
export function hexOf(integrity: string): string {
  return Buffer.from(integrity.slice(integrity.indexOf("-") + 1), "base64").toString("hex");
}

function order(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}
