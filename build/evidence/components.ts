import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { bunPartsOf, type Part } from "../bundle/bun-parts.ts";
import { bundledPackages, hexOf } from "../bundle/bundled.ts";
import { type Archive, linkedArchives } from "../link/archives.ts";
import { lockedBun } from "../link/pinned-bun.ts";
import { type BunTarget, isStatic } from "../targets.ts";

/** A piece of software inside the executable. */
export type Component = {
  readonly name: string;
  /** A version or a commit; undefined if nothing tells it. */
  readonly version: string | undefined;
  /** An SPDX expression. */
  readonly license: string;
  /** The whole texts of its licences. */
  readonly texts: readonly string[];
  /** A package URL. */
  readonly purl: string;
  /**
   * The digest of what was fetched or linked, in hexadecimal; undefined if ebb's build neither fetched nor linked it.
   */
  readonly hash: { readonly algorithm: "SHA-256" | "SHA-512"; readonly hex: string } | undefined;
  /** The file name of the static library from which it was linked: `libc.a`. */
  readonly archive?: string;
  /** Others' work that is inside it. */
  readonly parts: readonly Component[];
};

export type ComponentsInput = {
  /** The path of the TypeScript file that the executable starts with. */
  readonly entry: string;
  /** The path of package-lock.json. */
  readonly lockfile: string;
  readonly target: BunTarget;
  /** The path of another Bun; undefined for the one that package-lock.json pins. */
  readonly bun?: string | undefined;
};

const project = resolve(import.meta.dirname, "../..");

/**
 * Returns all that is inside the executable beside ebb's own code: npm packages, Bun with its parts and, unless it is a
 * desk's, libc, libstdc++, libgcc. Rejects if a licence or a version that should be known is not.
 */
export async function componentsOf({
  entry,
  lockfile,
  target,
  bun: ownBun,
}: ComponentsInput): Promise<readonly Component[]> {
  const packages = await bundledPackages(entry, lockfile);
  return [
    ...packages.map(({ name, version, license, text, sha512 }): Component => {
      const purl = `pkg:npm/${name.replace("@", "%40")}@${version}`;
      const hash = { algorithm: "SHA-512", hex: sha512 } as const;
      return { name, version, license, texts: [text], purl, hash, parts: [] };
    }),
    ownBun === undefined ? bun(target, lockfile) : changedBun(ownBun, target),
    ...(isStatic(target) ? linkedArchives(target).map(library) : []),
  ];
}

/** Returns the text of ebb's own licence. */
export function ownLicense(): string {
  return readFileSync(join(project, "LICENSE"), "utf8").trim();
}

function bun(target: BunTarget, lockfile: string): Component {
  const { version, integrity } = lockedBun(target, lockfile);
  return {
    name: "Bun",
    version,
    license: "MIT",
    texts: [read("bun")],
    purl: `pkg:npm/${target.bunPackage.replace("@", "%40")}@${version}`,
    hash: { algorithm: "SHA-512", hex: hexOf(integrity) },
    parts: bunPartsOf(target).map(part),
  };
}

/**
 * Describes a Bun given by --bun. Only its file is known, and that its version must be that of the Bun that compiles.
 */
function changedBun(path: string, target: BunTarget): Component {
  const version = process.versions.bun;
  const hex = createHash("sha256").update(readFileSync(path)).digest("hex");
  const texts = [read("bun")];
  const hash = { algorithm: "SHA-256", hex } as const;
  return {
    name: "Bun",
    version,
    license: "MIT",
    texts,
    purl: `pkg:generic/bun@${version}`,
    hash,
    parts: bunPartsOf(target).map(part),
  };
}

/**
 * Describes a part of Bun. This build runs in a Bun of the same version (pinned-bun.ts checks it), which knows the
 * part's.
 */
function part({ name, license, texts, package: ofPackage, versionKey = "" }: Part): Component {
  const version = process.versions[versionKey];
  if (versionKey !== "" && version === undefined) throw new Error(`Bun does not tell its version of ${versionKey}`);
  const purl = `pkg:${ofPackage}${version === undefined ? "" : `@${version}`}`;
  return { name, version, license, texts: texts.map(read), purl, hash: undefined, parts: [] };
}

const gcc = { license: "GPL-3.0-or-later WITH GCC-exception-3.1", texts: ["GCC-exception-3.1", "GPL-3.0"] };

const libraries: Readonly<Record<string, { name: string; license: string; texts: readonly string[] }>> = {
  "libc.a": { name: "musl", license: "MIT", texts: ["musl"] },
  "libstdc++.a": { name: "libstdc++", ...gcc },
  "libgcc_eh.a": { name: "libgcc_eh", ...gcc },
  "libgcc.a": { name: "libgcc", ...gcc },
};

function library({ file, path, version, sha256, debian }: Archive): Component {
  const known = libraries[file];
  if (known === undefined) throw new Error(`${file}: build/evidence/components.ts does not know its licence`);
  const { name, license, texts } = known;
  const purl =
    debian === undefined ? `pkg:generic/${encodeURIComponent(name)}@${version}` : `${debianUrl(debian)}#${path}`;
  return {
    name,
    version,
    license,
    texts: texts.map(read),
    purl,
    hash: { algorithm: "SHA-256", hex: sha256 },
    archive: file,
    parts: [],
  };
}

/** Returns the package URL, of the type deb, of a Debian package. */
function debianUrl({ name, version, architecture }: NonNullable<Archive["debian"]>): string {
  const encoded = [name, version].map((each) => encodeURIComponent(each).replaceAll("%3A", ":"));
  return `pkg:deb/debian/${encoded.join("@")}?arch=${architecture}`;
}

function read(name: string): string {
  return readFileSync(join(import.meta.dirname, "../licenses", `${name}.txt`), "utf8").trim();
}
