import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { type Target, targetNamed, targets } from "./targets.ts";

/** An executable to build; all paths are absolute. */
export type BuildInput = {
  /** The path of the TypeScript file that it starts with. */
  readonly entry: string;
  readonly outfile: string;
  readonly target: Target;
  /** The path of another Bun for musl; undefined for the one that package-lock.json pins. */
  readonly bun: string | undefined;
};

/** What the build's command line asks for. */
export type Order = {
  readonly inputs: readonly BuildInput[];
  /** The folder of a release, with an executable for each target and the checksums; undefined without --all. */
  readonly release: string | undefined;
};

const project = resolve(import.meta.dirname, "..");
const main = join(project, "src", "main.ts");
const dist = join(project, "dist");

/**
 * Reads the build's command line. It asks for this machine's executable at dist/ebb or, with --all, for
 * dist/ebb-linux-TARGET of all targets. `--target`, `--entry`, `--outfile` and `--outdir` change these, `--bun` names
 * another Bun for musl.
 * @throws Error on an unknown option or target, or on --all with --target, --outfile or --bun
 */
export function readOrder(argv: string[]): Order {
  const text = { type: "string" } as const;
  const options = {
    all: { type: "boolean" },
    target: text,
    entry: text,
    outfile: text,
    outdir: text,
    bun: text,
  } as const;
  const { values } = parseArgs({ args: argv, options });
  const { all = false, target, outfile, outdir = dist } = values;
  if (all && (target ?? outfile ?? values.bun) !== undefined)
    throw new Error("--all is all targets: no --target, no --outfile, no --bun");
  const bun = values.bun === undefined ? undefined : resolve(values.bun);
  const entry = resolve(values.entry ?? main);
  const folder = resolve(outdir);
  if (!all) {
    const path = resolve(outfile ?? join(folder, "ebb"));
    return { inputs: [{ entry, outfile: path, target: targetNamed(target ?? process.arch), bun }], release: undefined };
  }
  const inputs = targets.map((each) => ({ entry, outfile: join(folder, `ebb-linux-${each.name}`), target: each, bun }));
  return { inputs, release: folder };
}
