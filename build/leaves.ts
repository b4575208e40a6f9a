import { join, resolve } from "node:path";
import type { BunPlugin } from "bun";

const source = resolve(import.meta.dirname, "..", "src");

/**
 * Modules that are loaded later, and bundled each by itself with all that it imports: what they share with the start would
 * otherwise be split off from it, and each further chunk costs every start 0.1 ms. Shared are only values that are passed.
 */
export const leaves: readonly string[] = [
  "everything.ts",
  "personalities/personalities.ts",
  "system/drain.ts",
  "system/end-processes.ts",
].map((path) => join(source, path));

/** Puts the bundle of each leaf in the place of its module. Made before the build: Bun cannot build in the middle of one. */
export async function bundleLeaves(): Promise<BunPlugin> {
  const bundles = new Map<string, string>();
  for (const path of leaves) bundles.set(path, await bundle(path));
  return {
    name: "leaves",
    setup(build) {
      build.onLoad({ filter: /\.ts$/ }, ({ path }) => {
        const contents = bundles.get(path);
        return contents === undefined ? undefined : { contents, loader: "js" };
      });
    },
  };
}

async function bundle(path: string): Promise<string> {
  const { outputs } = await Bun.build({ entrypoints: [path], target: "bun", format: "esm", minify: true });
  const [output] = outputs;
  if (output === undefined || outputs.length > 1) throw new Error(`${path}: ${outputs.length} outputs, expected one`);
  return await output.text();
}
