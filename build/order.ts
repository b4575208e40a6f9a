import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { type BunTarget, isStatic, platformOf, releaseTargets, targetNamed } from "./targets.ts";

/** An executable to build; all paths are absolute. */
export type BuildInput = {
  /** The path of the TypeScript file that it starts with. */
  readonly entry: string;
  readonly outfile: string;
  readonly target: BunTarget;
  /** The path of another Bun, for musl or a desk's system; undefined for the one that package-lock.json pins. */
  readonly bun: string | undefined;
};

/** What the build's command line asks for. */
export type Order = {
  readonly inputs: readonly BuildInput[];
  /** The folder of a release, with an executable for each target and the checksums; undefined without --all. */
  readonly release: string | undefined;
};

const project = resolve(import.meta.dirname, "..");
const mains = { pod: join(project, "src", "main.ts"), desk: join(project, "src", "desk", "main.ts") };
const dist = join(project, "dist");

/**
 * Reads the build's command line. It asks for this machine's executable at dist/ebb or, with --all, for
 * dist/ebb-SYSTEM-TARGET of all targets. `--target`, `--entry`, `--outfile` and `--outdir` change these, `--bun` names
 * another Bun.
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
  const folder = resolve(outdir);
  const inputFor = (each: BunTarget, path: string): BuildInput => ({
    entry: resolve(values.entry ?? mains[isStatic(each) ? "pod" : "desk"]),
    outfile: path,
    target: each,
    bun,
  });
  if (!all) {
    const path = resolve(outfile ?? join(folder, "ebb"));
    return { inputs: [inputFor(targetNamed(target ?? process.arch), path)], release: undefined };
  }
  const inputs = releaseTargets.map((each) => inputFor(each, join(folder, `ebb-${platformOf(each)}`)));
  return { inputs, release: folder };
}
