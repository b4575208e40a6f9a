import { basename, dirname, join, relative, resolve } from "node:path";
import type { BunPlugin } from "bun";

const source = resolve(import.meta.dirname, "../../src");

/** Modules that run at a desk, or once in the life of a replica; some are mostly text. Paths below src. */
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
 * Modules that have no bytecode in the executable, by their names in Bun's module graph. They are parsed when they are
 * loaded, which takes 10 to 30 ms (measured); their bytecode was 3.4 MB.
 */
export const parsedModules: readonly string[] = desk.map((path) => `/$bunfs/root/${basename(path, ".ts")}.js`);

/**
 * The absolute paths of the modules that are loaded later. Each is bundled by itself, with all that it imports: what it
 * shares with the start would otherwise be split off from the start, and each further chunk costs every start 0.1 ms.
 * So a lazy bundle has its own copy of each module (its classes, its state), and shares only the values that are passed
 * to it.
 */
export const lazyBundles: readonly string[] = [
  "dispatch.ts",
  ...desk,
  "core/sidecars/kinds/istio-status.ts",
  "compat/tools.ts",
  "system/envoy/drain.ts",
  "system/process/descendants.ts",
  "system/process/end-processes.ts",
  "system/sidecars/probe-ports.ts",
].map((path) => join(source, path));

/**
 * Builds all lazy bundles, and returns a Bun plugin that replaces each of these modules by its bundle. They are built
 * first, because Bun cannot build in the middle of a build. `made` has JavaScript that replaces the contents of other
 * modules, by the module's path, in the lazy bundles too. Rejects if a bundle has more than one output.
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
 * The prefix of the path by which a lazy bundle imports another one. An absolute path would not do: the minifier counts
 * letters, those of paths too, and gives the shortest names to the most frequent ones, so that the executable would
 * depend on the folder that it is built in.
 */
const LAZY = "lazy:";

/** Keeps a lazy bundle apart if another lazy bundle imports it. */
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

/**
 * Matches a call of `require` in a bundle: Bun gives it a short name of its own, which it does not follow in the next
 * build.
 */
const requiresLazy = /(?<![\w$.])(?!import\b)[\w$]+\("lazy:/g;
