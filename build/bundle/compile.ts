import { muslBun } from "../link/musl-bun.ts";
import type { Target } from "../targets.ts";
import { bundleLazily } from "./lazy-bundles.ts";

export type CompileInput = {
  /** The TypeScript file that the executable starts with. */
  readonly entry: string;
  /** Where the executable goes; Bun puts the last part of it inside, so it must not vary. */
  readonly outfile: string;
  readonly target: Target;
  /** The path of package-lock.json, which pins Bun for musl. */
  readonly lockfile: string;
  /** Bun for musl, where it is not that one. */
  readonly bun: string | undefined;
  /** Contents of modules that the build knows better, by path. */
  readonly made: ReadonlyMap<string, string>;
};

/**
 * Compiles to an executable that is still linked dynamically, against musl. Splitting keeps what is imported lazily out of
 * the start; no `.env` or `bunfig.toml` of the pod is ever read. What is split off is named after its module: the hash that
 * Bun would take depends on the path to node_modules, and so on the folder (two modules of one name fail the build).
 */
export async function compile({ entry, outfile, target, lockfile, bun, made }: CompileInput): Promise<void> {
  await Bun.build({
    entrypoints: [entry],
    compile: {
      target: target.bunTarget as Bun.Build.CompileTarget, // its type lacks the baseline of musl
      executablePath: bun ?? muslBun(target, lockfile),
      outfile,
      autoloadDotenv: false,
      autoloadBunfig: false,
    },
    minify: true,
    bytecode: true,
    format: "esm",
    splitting: true,
    naming: { chunk: "[name].js" },
    plugins: [await bundleLazily(made)],
  });
}
