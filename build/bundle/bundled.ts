import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

/** An npm package that has code in the bundle. */
export type BundledPackage = {
  readonly name: string;
  readonly version: string;
  /** An SPDX expression. */
  readonly license: string;
  readonly text: string;
  /** SHA-512 of what the registry holds, in hexadecimal, from package-lock.json. */
  readonly sha512: string;
};

/** The inputs of an output are those that it has code of. */
type Metafile = { readonly outputs: Record<string, { readonly inputs: Record<string, unknown> }> };

/**
 * The npm packages that the bundle of `entry` has code of, by name: not all that are installed. What is loaded later counts
 * too, whichever bundle of its own the executable has it in.
 */
export async function bundledPackages(entry: string, lockfile: string): Promise<readonly BundledPackage[]> {
  const { metafile } = await Bun.build({
    entrypoints: [entry],
    target: "bun",
    minify: true,
    splitting: true,
    metafile: true,
  });
  const folders = new Set(bundledFiles(metafile as Metafile).flatMap(packageFolder));
  const locked = JSON.parse(readFileSync(lockfile, "utf8")).packages as Record<string, { integrity?: string }>;
  return [...folders]
    .map((folder) => readPackage(folder, locked))
    .toSorted((one, other) => order(one.name, other.name));
}

function bundledFiles({ outputs }: Metafile): readonly string[] {
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

/** Packages that only name their licence: its text with the copyright line of their README is in build/licenses. */
export const withoutText: readonly string[] = ["rfc6902"];

function licenseText(folder: string, name: string): string {
  if (withoutText.includes(name)) return read(join(import.meta.dirname, "../licenses", `${name}.txt`));
  const file = readdirSync(folder).find((each) => /^(licen[cs]e|copying)(\.\w+)?$/i.test(each));
  if (file === undefined) throw new Error(`${name} has no text of its licence: add it to build/licenses`);
  return read(join(folder, file));
}

function read(path: string): string {
  return readFileSync(path, "utf8").trim();
}

/** Of a digest as package-lock.json has it (Subresource Integrity): `sha512-`, and base64. */
export function hexOf(integrity: string): string {
  return Buffer.from(integrity.slice(integrity.indexOf("-") + 1), "base64").toString("hex");
}

function order(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}
