import { basename, dirname, join, relative, resolve } from "node:path";
import type { BunPlugin } from "bun";

const source = resolve(import.meta.dirname, "../../src");

/** What runs at a desk, or once in the life of a replica; some are mostly text. */
const desk = [
  "core/cli/completion/completion.ts",
  "help.ts",
  "kube/inject/inject.ts",
  "kube/manifests/manifests.ts",
  "kube/reaper/reaper.ts",
  "kube/webhook/webhook.ts",
  "licenses.ts",
];

/**
 * Modules of the executable that have no bytecode, as its graph names them. They are parsed when they are loaded, which takes 10
 * to 30 ms (measured); their bytecode was 3.4 MB.
 */
export const parsedModules: readonly string[] = desk.map((path) => `/$bunfs/root/${basename(path, ".ts")}.js`);

/**
 * Modules that are loaded later, and bundled each by itself with all that it imports: what they share with the start would
 * otherwise be split off from it, and each further chunk costs every start 0.1 ms. Shared are only values that are passed.
 */
export const lazyBundles: readonly string[] = [
  "dispatch.ts",
  ...desk,
  "core/sidecars/kinds/istio-status.ts",
  "personalities/personalities.ts",
  "system/envoy/drain.ts",
  "system/process/descendants.ts",
  "system/process/end-processes.ts",
  "system/sidecars/neighbours.ts",
].map((path) => join(source, path));

/**
 * Puts each lazy bundle in the place of its module. Made before the build: Bun cannot build in the middle of one.
 * In the lazy bundles too, `made` has the contents of modules that the build knows better, by path.
 */
export async function bundleLazily(made: ReadonlyMap<string, string> = new Map()): Promise<BunPlugin> {
  const bundles = new Map(made);
  for (const path of lazyBundles) bundles.set(path, await bundle(path, replace(made)));
  return replace(bundles);
}

function replace(modules: ReadonlyMap<string, string>): BunPlugin {
  return {
    name: "replace",
    setup(build) {
      build.onResolve({ filter: /^lazy:/ }, ({ path }) => ({ path: join(source, path.slice(LAZY.length)) }));
      build.onLoad({ filter: /\.ts$/ }, ({ path }) => {
        const contents = modules.get(path);
        return contents === undefined ? undefined : { contents, loader: "js" };
      });
    },
  };
}

/**
 * What a lazy bundle imports another one by. No absolute path: the minifier counts letters, those of paths too, and gives the
 * shortest names by what it has counted, so that the executable would depend on the folder that it is built in.
 */
const LAZY = "lazy:";

/** A lazy bundle that another one imports stays one. */
const keepLazy: BunPlugin = {
  name: "keep lazy bundles",
  setup(build) {
    build.onResolve({ filter: /^\.{1,2}\/.*\.ts$/ }, ({ path, importer, kind }) => {
      const imported = resolve(dirname(importer), path);
      const isLazy = (kind === "dynamic-import" || kind === "require-call") && lazyBundles.includes(imported);
      return isLazy ? { path: LAZY + relative(source, imported), external: true } : undefined;
    });
  },
};

async function bundle(path: string, plugin: BunPlugin): Promise<string> {
  const options = { target: "bun", format: "esm", minify: true } as const;
  const { outputs } = await Bun.build({ entrypoints: [path], plugins: [keepLazy, plugin], ...options });
  const [output] = outputs;
  if (output === undefined || outputs.length > 1) throw new Error(`${path}: ${outputs.length} outputs, expected one`);
  return (await output.text()).replace(requiresLazy, 'require("lazy:');
}

/** Bun calls `require` by a short name of its own, which it does not follow in the next build. */
const requiresLazy = /(?<![\w$.])(?!import\b)[\w$]+\("lazy:/g;
