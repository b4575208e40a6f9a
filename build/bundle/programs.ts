import { resolve } from "node:path";
import type { BunPlugin } from "bun";

const folder = resolve(import.meta.dirname, "../../src/kube");

/**
 * The programs of the cluster's side. A command imports the path of such a module, and loads it from there: the
 * executable holds it as a file, without bytecode, which would be 1.9 MB that no pod's start reads. So it has its own
 * copy of each module (its classes, its state), and shares only the values that are passed to it.
 */
export const programs: readonly string[] = [
  ...["image", "inject", "manifests"].map((name) => resolve(folder, name, `${name}.ts`)),
  resolve(folder, "controllers.ts"),
];

type Replacement = { readonly contents: string; readonly loader: "js" | "file" };

/**
 * Bundles each program to one file of JavaScript, and returns a Bun plugin that embeds these files. They are built
 * first, because Bun cannot build in the middle of a build. `made` has JavaScript that replaces the contents of other
 * modules, by the module's path, in the programs too. Rejects if a bundle has more than one output.
 */
export async function embedPrograms(made: ReadonlyMap<string, string>): Promise<BunPlugin> {
  const replacements = new Map<string, Replacement>();
  for (const [path, contents] of made) replacements.set(path, { contents, loader: "js" });
  const ofPrograms = replace(new Map(replacements));
  for (const path of programs) replacements.set(path, { contents: await bundle(path, ofPrograms), loader: "file" });
  return replace(replacements);
}

function replace(modules: ReadonlyMap<string, Replacement>): BunPlugin {
  return {
    name: "replace",
    setup(build) {
      build.onLoad({ filter: /\.ts$/ }, ({ path }) => modules.get(path));
    },
  };
}

async function bundle(path: string, plugin: BunPlugin): Promise<string> {
  const options = { target: "bun", format: "esm", minify: true } as const;
  const { outputs } = await Bun.build({ entrypoints: [path], plugins: [plugin], ...options });
  const [output] = outputs;
  if (output === undefined || outputs.length > 1) throw new Error(`${path}: ${outputs.length} outputs, expected one`);
  return await output.text();
}
