import { spawnSync } from "node:child_process";
import { muslBun } from "./musl-bun.ts";
import type { Target } from "./targets.ts";

export type CompileInput = {
  /** The TypeScript file that the executable starts with. */
  readonly entry: string;
  /** Where the executable goes; Bun puts the last part of it inside, so it must not vary. */
  readonly outfile: string;
  readonly target: Target;
  /** The path of package-lock.json, which pins Bun for musl. */
  readonly lockfile: string;
};

/**
 * Compiles to an executable that is still linked dynamically, against musl. `--splitting` keeps what is imported
 * lazily out of the start; no `.env` or `bunfig.toml` of the pod is ever read.
 */
export function compile({ entry, outfile, target, lockfile }: CompileInput): void {
  const { error, status, stdout, stderr } = spawnSync(
    process.execPath,
    [
      "build",
      "--compile",
      "--minify",
      "--bytecode",
      "--format=esm",
      "--splitting",
      "--no-compile-autoload-dotenv",
      "--no-compile-autoload-bunfig",
      `--target=${target.bunTarget}`,
      `--compile-executable-path=${muslBun(target, lockfile)}`,
      `--outfile=${outfile}`,
      entry,
    ],
    { encoding: "utf8" },
  );
  if (error !== undefined) throw new Error(`bun build cannot be run: ${error.message}`);
  if (status !== 0) throw new Error(`bun build of ${entry} failed:\n${stdout}${stderr}`.trim());
}
