import type { BunPlugin } from "bun";
import { fetchPinnedBun } from "../link/pinned-bun.ts";
import { type BunTarget, isStatic } from "../targets.ts";
import { deskModules } from "./desk.ts";

type CompileInput = {
  /** The TypeScript file that the executable starts with. */
  readonly entry: string;
  /** The path of the executable. Bun puts its last part into the file, so that part must be the same in each build. */
  readonly outfile: string;
  readonly target: BunTarget;
  /** The path of package-lock.json, which pins Bun. */
  readonly lockfile: string;
  /** The path of another Bun; undefined for the pinned one. */
  readonly bun: string | undefined;
  /** JavaScript that replaces the contents of modules, by the module's path: what only the build knows. */
  readonly made: ReadonlyMap<string, string>;
};

/**
 * Compiles `entry` to an executable that is still linked dynamically: against musl or, for a desk, as Bun is. Lazily
 * imported modules are loaded when they are imported, not at startup. The executable never reads a `.env` or
 * `bunfig.toml` of the pod. Bun names its chunks by a hash of the modules' paths, which it counts from the working
 * directory. Rejects if Bun cannot bundle a module.
 */
export async function compile({ entry, outfile, target, lockfile, bun, made }: CompileInput): Promise<void> {
  await Bun.build({
    entrypoints: [entry],
    compile: {
      target: target.bunTarget as Bun.Build.CompileTarget, // its type lacks the baseline of musl
      executablePath: bun ?? fetchPinnedBun(target, lockfile),
      outfile,
      autoloadDotenv: false,
      autoloadBunfig: false,
    },
    minify: true,
    bytecode: isStatic(target), // bytecode is for the system that compiles
    format: "esm",
    splitting: true,
    plugins: [replaceModules(isStatic(target) ? made : new Map([...made, ...deskModules]))],
  });
}

/** Returns a plugin that replaces the contents of modules by JavaScript, by the module's path. */
function replaceModules(made: ReadonlyMap<string, string>): BunPlugin {
  return {
    name: "made",
    setup(build) {
      build.onLoad({ filter: /\.ts$/ }, ({ path }) => {
        const contents = made.get(path);
        return contents === undefined ? undefined : { contents, loader: "js" };
      });
    },
  };
}
