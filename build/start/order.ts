import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { type Target, targetNamed, targets } from "../targets.ts";

export type BuildInput = {
  readonly entry: string;
  readonly outfile: string;
  readonly target: Target;
  /** Bun for musl, where it is not the one that package-lock.json pins. */
  readonly bun: string | undefined;
};

export type Order = {
  readonly inputs: readonly BuildInput[];
  /** The folder of a release: one executable for each target, and the checksums. */
  readonly release: string | undefined;
};

const project = resolve(import.meta.dirname, "../..");
const main = join(project, "src", "main.ts");
const dist = join(project, "dist");

/**
 * What the command line asks for: this machine's executable at dist/ebb, or with --all those of all targets, each with its
 * name in dist. `--target`, `--entry`, `--outfile`, `--outdir` ask for something else, `--bun` for another Bun for musl.
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
