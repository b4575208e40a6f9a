import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Facts } from "../../src/about/facts.ts";
import { manualPages } from "../manual.ts";
import type { Target } from "../targets.ts";
import { type Component, type ComponentsInput, componentsOf, ownText } from "./components.ts";
import { licenseText } from "./license-text.ts";
import { type Source, sourceOf } from "./source.ts";

/** All that is known of an executable before it is there. */
export type About = {
  readonly source: Source;
  /** ebb itself. */
  readonly own: Component;
  /** What else is inside. */
  readonly components: readonly Component[];
  readonly facts: Facts;
};

const project = resolve(import.meta.dirname, "../..");

export async function aboutExecutable(input: ComponentsInput): Promise<About> {
  const { name, version, license } = JSON.parse(readFileSync(join(project, "package.json"), "utf8"));
  const source = sourceOf(project);
  const components = await componentsOf(input);
  const purl = `pkg:generic/${name}@${version}`;
  const own = { name, version, license, texts: [ownText()], purl, hash: undefined, parts: [] };
  return { source, own, components, facts: factsOf(source, components, input.target) };
}

/** The modules that stand in the places of those in src/about, by path. */
export function aboutModules({ own, components, facts }: About): ReadonlyMap<string, string> {
  const text = packed(licenseText(own, components));
  return new Map([
    [join(project, "src", "about", "facts.ts"), `export const facts = ${JSON.stringify(facts)};`],
    [join(project, "src", "about", "texts.ts"), `export const texts = "${text}";`],
    [join(project, "src", "about", "manual.ts"), `export const manual = "${packed(JSON.stringify(manualPages()))}";`],
  ]);
}

function packed(text: string): string {
  return Bun.zstdCompressSync(text, { level: 19 }).toString("base64");
}

function factsOf({ commit, dirty }: Source, components: readonly Component[], target: Target): Facts {
  const versionOf = (name: string): string => {
    const version = components.find((component) => component.name === name)?.version;
    if (version === undefined) throw new Error(`the version of ${name} is not known`);
    return version;
  };
  const webkit = process.versions.webkit ?? "";
  const [bun, musl, gcc] = ["Bun", "musl", "libgcc"].map(versionOf) as [string, string, string];
  return { commit, dirty, target: `linux-${target.name}`, bun, webkit, musl, gcc };
}
