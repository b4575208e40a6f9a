import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { digestOf } from "../../build/evidence/sums.ts";
import { cacheFolder } from "../../build/setup/cache.mjs";
import { checkSums, moveIntoPlace, writeSums } from "../../build/setup/sums.mjs";
import { temporaryFolder } from "../harness/ebb.ts";
import { copyOwn, download, go, pinNames, pinsFolder } from "./go.ts";
import { type Program, type ProgramName, packageOf, programOf } from "./programs.ts";

/** A program that can be run. */
interface Compiled {
  /** The path of its executable. */
  readonly path: string;
  /** Returns the path of one of its `files`. */
  file(name: string): string;
}

/**
 * Returns a program of the table. It is compiled once for each version of its entry and pins, which downloads Go
 * modules, and checked each time that it is taken from the cache. @throws Error if it cannot be compiled, or the
 * machine has no Go
 */
export function compiledProgram(name: ProgramName, say: (line: string) => void = console.log): Compiled {
  const program = programOf(name);
  const folder = join(cacheFolder(), "programs", cacheName(name, program));
  const wrong = existsSync(folder) ? checkSums(folder) : "";
  if (wrong !== undefined) {
    if (wrong !== "") say(`${folder} is damaged: ${wrong}; it is compiled again`);
    make(program, folder, say);
  }
  return { path: join(folder, program.name), file: (path) => join(folder, path) };
}

/** Returns the name of a program's folder, with a digest of all that changes what is compiled. */
function cacheName(name: ProgramName, program: Program): string {
  const pins = pinNames.map((file) => readFileSync(join(pinsFolder(program), file), "utf8"));
  if (!pins[0]?.includes(`${program.module} ${program.version}`))
    throw new Error(`go.mod has another version of ${program.module}: run \`bun test/sidecars/pin.ts ${name}\``);
  const { usedBy: _, ...entry } = program;
  const own = program.own && readFileSync(join(import.meta.dirname, program.own, "main.go"), "utf8");
  const digest = digestOf(new TextEncoder().encode(JSON.stringify([entry, ...pins, own])));
  return `${name}-${program.version}-${process.arch}-${digest.slice(0, 16)}`;
}

/** Compiles a program into its folder, as a whole or not at all. */
function make(program: Program, folder: string, say: (line: string) => void): void {
  say(`compiling ${program.name} ${program.version}, once`);
  const start = performance.now();
  mkdirSync(join(folder, ".."), { recursive: true });
  const target = mkdtempSync(`${folder}-`);
  try {
    compileInto(target, program);
    writeSums(target);
    chmodSync(target, 0o755); // a sidecar that runs as another user starts it
    moveIntoPlace(target, folder);
  } finally {
    rmSync(target, { recursive: true, force: true });
  }
  say(`${program.name}: ${((performance.now() - start) / 1000).toFixed(0)} s`);
}

const flags = "-mod=readonly -buildvcs=false -trimpath";

function compileInto(target: string, program: Program): void {
  using scratch = temporaryFolder();
  for (const file of pinNames) copyFileSync(join(pinsFolder(program), file), join(scratch.path, file));
  copyOwn(program, scratch.path);
  const { module, files = [], tags = [], variables = {} } = program;
  const tagged = `-tags=${tags.join()}`;
  download(["list", "-deps", tagged, packageOf(program)], scratch.path, flags);
  const { Dir: source } = JSON.parse(go(["mod", "download", "-json", module], scratch.path, flags)) as { Dir: string };
  replaceByChanged(program, source, scratch.path);
  const values = Object.entries(variables).map(([name, value]) => `-X ${name}=${value}`);
  const words = [tagged, `-ldflags=${["-s", "-w", ...values].join(" ")}`];
  go(["build", ...words, "-o", join(target, program.name), packageOf(program)], scratch.path, flags);
  for (const path of files) copyWritable(join(source, path), join(target, basename(path)));
}

/** Copies a file, or a folder with all that is in it, as writable: in Go's module cache they are read-only. */
function copyWritable(from: string, to: string): void {
  const copy = Bun.spawnSync(["cp", "-r", "--no-preserve=mode", from, to]);
  if (!copy.success) throw new Error(`cp ${from}: ${copy.stderr}`);
}

/** Replaces a module by a copy with its changes, if it has any: Go refuses an overlay over its module cache. */
function replaceByChanged({ module, emptied = [], copied = {} }: Program, source: string, scratch: string): void {
  const copies = Object.entries(copied);
  if (emptied.length + copies.length === 0) return;
  const changed = join(scratch, "module");
  copyWritable(source, changed);
  for (const file of emptied) {
    const path = join(changed, file);
    writeFileSync(path, /^package .*$/m.exec(readFileSync(path, "utf8"))?.[0] ?? "");
  }
  for (const [file, from] of copies) copyFileSync(join(changed, from), join(changed, file));
  go(["mod", "edit", `-replace=${module}=./module`], scratch, flags);
}
