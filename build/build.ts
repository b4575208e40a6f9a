import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { compile } from "./bundle/compile.ts";
import { signAdHoc } from "./bundle/sign.ts";
import { aboutExecutable, aboutModules } from "./evidence/about.ts";
import { sbomOf, sbomPathOf } from "./evidence/sbom.ts";
import { digestOf } from "./evidence/sums.ts";
import { runInEmptyRoot } from "./image/empty-root.ts";
import { linkStatic } from "./link/link-static.ts";
import { buildNativeModule, nativeSources } from "./link/native.ts";
import { findToolchain } from "./link/toolchain.ts";
import { type BuildInput, type Order, readOrder } from "./order.ts";
import { removeSums, writeSums } from "./setup/sums.mjs";
import { shrink } from "./shrink/shrink.ts";
import { type BunTarget, isStatic, type Target } from "./targets.ts";
import { verify } from "./verify.ts";

const project = resolve(import.meta.dirname, "..");
const lockfile = join(project, "package-lock.json");
const sources = [join(project, "build/link/glue.c"), ...nativeSources];
const say = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

try {
  await buildAll(readOrder(process.argv.slice(2)));
} catch (error) {
  process.stderr.write(`build: ${error instanceof Error ? explain(error) : String(error)}\n`);
  process.exitCode = 1;
}

/**
 * Checks the toolchains, then builds the module that runs from source, each target and, for a release, the checksums.
 */
async function buildAll({ inputs, release }: Order): Promise<void> {
  for (const { target } of inputs) if (isStatic(target)) findToolchain(target);
  await timed("native", () => buildNativeModule());
  if (release !== undefined) removeSums(release);
  for (const input of inputs) await build(input);
  if (release === undefined) return;
  const files = inputs.flatMap(({ outfile }) => [outfile, sbomPathOf(outfile)]);
  writeSums(
    release,
    files.map((path) => basename(path)),
  );
}

/**
 * Builds one executable: facts, compile; for pods link, shrink, verify, run, for a Mac sign; its bill of materials. It
 * moves to `outfile` last, so that what is there has always passed.
 */
async function build({ entry, outfile, target, bun }: BuildInput): Promise<void> {
  if (existsSync(outfile) && !statSync(outfile).isFile()) throw new Error(`--outfile ${outfile} is no regular file`);
  const folder = mkdtempSync(join(tmpdir(), "ebb-build-"));
  const temporary = `${outfile}.${process.pid}.new`;
  mkdirSync(dirname(outfile), { recursive: true });
  try {
    const compiled = join(folder, "ebb");
    const about = await timed("facts", () => aboutExecutable({ entry, lockfile, target, bun }));
    const modules = aboutModules(about);
    await timed("compile", () => compile({ entry, outfile: compiled, target, lockfile, bun, made: modules }));
    const input = readFileSync(compiled);
    const made = isStatic(target) ? await linkAndShrink(input, target) : await forDesk(input, target);
    writeFileSync(temporary, made.bytes);
    chmodSync(temporary, 0o755);
    if (isStatic(target)) await tryOut(temporary, target);
    await timed("bill", () => {
      const { bytes, map } = made;
      writeFileSync(sbomPathOf(outfile), sbomOf({ about, sha256: digestOf(bytes), map }));
    });
    renameSync(temporary, outfile);
    summarise(outfile, made);
  } finally {
    rmSync(folder, { recursive: true, force: true });
    rmSync(temporary, { force: true });
  }
}

type Made = { readonly bytes: Uint8Array; readonly map: string; readonly what: string };

async function linkAndShrink(input: Uint8Array, target: Target): Promise<Made> {
  const linked = await timed("link", () => linkStatic({ bytes: input, name: "compiled ebb", sources, target }));
  const { bytes, report } = await timed("shrink", () => shrink({ input, linked: linked.bytes, target }));
  for (const line of report) say(`  ${line}`);
  await timed("verify", () => verify({ input, output: bytes, patches: linked.patches, target }));
  return { bytes, map: linked.map, what: `statically linked, ${linked.patches.length} relocations applied` };
}

async function forDesk(bytes: Buffer, { platform }: BunTarget): Promise<Made> {
  if (platform === "darwin") await timed("sign", () => signAdHoc(bytes));
  return { bytes, map: "", what: "for a desk" };
}

async function tryOut(path: string, target: Target): Promise<void> {
  const { how, stdout } = await timed("run", () => runInEmptyRoot(path, ["--version"], target));
  refuseBareBun(stdout);
  say(`  --version runs ${how}: ${stdout.trim()}`);
}

/**
 * @throws Error if `--version` printed Bun's own version: an executable that does not find the program inside it
 * becomes the `bun` command
 */
function refuseBareBun(stdout: string): void {
  if (stdout.trim() !== process.versions.bun) return;
  throw new Error(`--version printed Bun's own version, ${stdout.trim()}: the compiled program was lost in the link`);
}

async function timed<Result>(step: string, work: () => Result | Promise<Result>): Promise<Result> {
  const start = performance.now();
  const result = await work();
  say(`${step.padEnd(8)} ${((performance.now() - start) / 1000).toFixed(1)} s`);
  return result;
}

function summarise(outfile: string, { bytes, what }: Made): void {
  say(`${basename(outfile).padEnd(8)} ${(bytes.length / 1e6).toFixed(1)} MB, ${what}`);
  say(`sha256   ${digestOf(bytes)}  ${outfile}`);
}

/**
 * Returns the message of a plain Error or of one about an option, and what Bun says of each mistake in a module; any
 * other error is a bug, so it returns its stack.
 */
function explain(error: Error): string {
  if (error instanceof AggregateError)
    return [error.message, ...error.errors.map((each) => Bun.inspect(each, { colors: false }))].join("\n");
  const isExpected =
    error.constructor === Error || ("code" in error && String(error.code).startsWith("ERR_PARSE_ARGS"));
  return isExpected ? error.message : (error.stack ?? error.message);
}
