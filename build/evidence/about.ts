import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { BuildInfo } from "../../src/build-info.ts";
import { manualPages } from "../pages.ts";
import { type BunTarget, isStatic, platformOf } from "../targets.ts";
import { type Component, type ComponentsInput, componentsOf, ownLicense } from "./components.ts";
import { licenseText } from "./license-text.ts";
import { type Source, sourceOf } from "./source.ts";

/** All that is known of an executable before it is built. */
export type About = {
  readonly source: Source;
  /** ebb itself. */
  readonly own: Component;
  /** What else is inside: npm packages, Bun and its parts, static libraries. */
  readonly components: readonly Component[];
  readonly buildInfo: BuildInfo;
};

const project = resolve(import.meta.dirname, "../..");

/**
 * Collects what is known of an executable before it is built: its commit, its components with their licences, and the
 * versions that it prints. Reads the repository, asks git, gcc and dpkg, and bundles `entry`. Rejects if a version or
 * licence is not known.
 */
export async function aboutExecutable(input: ComponentsInput): Promise<About> {
  const { name, version, license } = JSON.parse(readFileSync(join(project, "package.json"), "utf8"));
  const source = sourceOf(project);
  const components = await componentsOf(input);
  const purl = `pkg:generic/${name}@${version}`;
  const own = { name, version, license, texts: [ownLicense()], purl, hash: undefined, parts: [] };
  return { source, own, components, buildInfo: buildInfoOf(source, components, input.target) };
}

/** Returns the JavaScript that replaces src/build-info.ts in the executable, by the module's path. */
export function aboutModules({ own, components, buildInfo }: About): ReadonlyMap<string, string> {
  const module = [
    `export const buildInfo = ${JSON.stringify(buildInfo)};`,
    `export const licenses = "${packed(licenseText(own, components))}";`,
    `export const pages = "${packed(JSON.stringify(manualPages()))}";`,
  ];
  return new Map([[join(project, "src", "build-info.ts"), module.join("\n")]]);
}

function packed(text: string): string {
  return Bun.zstdCompressSync(text, { level: 19 }).toString("base64");
}

function buildInfoOf({ commit, dirty }: Source, components: readonly Component[], target: BunTarget): BuildInfo {
  const versionOf = (name: string): string => {
    const version = components.find((component) => component.name === name)?.version;
    if (version === undefined) throw new Error(`the version of ${name} is not known`);
    return version;
  };
  const webkit = process.versions.webkit ?? "";
  const linked = isStatic(target) ? { musl: versionOf("musl"), gcc: versionOf("libgcc") } : {};
  return { commit, dirty, target: platformOf(target), bun: versionOf("Bun"), webkit, ...linked };
}
