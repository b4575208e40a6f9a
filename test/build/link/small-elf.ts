import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { type LinkResult, linkStatic } from "../../../build/link/link-static.ts";
import { findToolchain } from "../../../build/link/toolchain.ts";
import { type Target, targetNamed } from "../../../build/targets.ts";

export const x64 = targetNamed("x64");
export const sources = [resolve(import.meta.dirname, "../../../build/link/glue.c")];

type SmallProgram = {
  readonly source: string;
  readonly language?: "c" | "c++";
  readonly compileOptions?: readonly string[];
  readonly linkOptions?: readonly string[];
  /** The C source of a shared library that it needs besides. */
  readonly library?: string;
  readonly target?: Target;
};

/** Compiles a small program for musl, linked dynamically at a fixed address, as Bun is. Returns its ELF file. */
export function dynamicProgram({
  source,
  language = "c",
  compileOptions = [],
  linkOptions = [],
  library = "",
  target = x64,
}: SmallProgram): Uint8Array {
  const { gcc, includes, archives } = findToolchain(target);
  const musl = dirname(archives.at(-1) ?? "");
  const own = (name: string): string => gccFile(gcc, name);
  return inFolder((folder) => {
    writeFileSync(join(folder, "source"), source);
    writeFileSync(join(folder, "library.c"), library);
    run(gcc, ["-shared", "-nostdlib", "-fPIC", "library.c", "-o", "library.so"], folder);
    const headers = ["-nostdinc", ...includes.toReversed().flatMap((include) => ["-isystem", include])];
    const compile = ["-x", language, ...headers, "-O1", "-fno-pie", "-fno-builtin", ...compileOptions];
    run(gcc, [...compile, "-c", "source", "-o", "object.o"], folder);
    const objects = [`${musl}/crt1.o`, `${musl}/crti.o`, own("crtbegin.o"), "object.o"];
    const shared = ["./library.so", `-L${musl}`, sharedLibc(target), "-l:libstdc++.so.6"];
    const options = ["-no-pie", "-nostdlib", "-Wl,--allow-shlib-undefined,--as-needed", ...linkOptions];
    run(gcc, [...options, ...objects, ...shared, own("crtend.o"), `${musl}/crtn.o`, "-o", "program"], folder);
    return new Uint8Array(readFileSync(join(folder, "program")));
  });
}

/** Names the libc to link. Another architecture has only glibc, whose functions and variables have the same names. */
function sharedLibc({ arch }: Target): string {
  return arch === process.arch ? "-lc" : "-l:libc.so.6";
}

/** Links such a program statically, without start code. */
export function link(bytes: Uint8Array, target = x64): LinkResult {
  return linkStatic({ bytes, name: "small", sources, target });
}

type Outcome = {
  readonly status: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
};

/** Runs an executable for x64 to its end. */
export function execute(bytes: Uint8Array, ...programArguments: string[]): Outcome {
  return executeOn(x64, bytes, programArguments);
}

/** Runs an executable to its end; in the target's emulator if it is for another architecture. */
export function executeOn(target: Target, bytes: Uint8Array, programArguments: readonly string[] = []): Outcome {
  return inFolder((folder) => {
    const path = join(folder, "program");
    writeFileSync(path, bytes);
    chmodSync(path, 0o755);
    const [command = "", ...rest] = target.arch === process.arch ? [path] : [target.emulator, path];
    const { status, signal, stdout, stderr } = spawnSync(command, [...rest, ...programArguments], { encoding: "utf8" });
    return { status, signal, stdout, stderr };
  });
}

function inFolder<Result>(work: (folder: string) => Result): Result {
  const folder = mkdtempSync(join(tmpdir(), "ebb-small-elf-"));
  try {
    return work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function gccFile(gcc: string, name: string): string {
  return spawnSync(gcc, [`-print-file-name=${name}`], { encoding: "utf8" }).stdout.trim();
}

function run(command: string, commandArguments: readonly string[], cwd: string): void {
  const { status, stderr } = spawnSync(command, commandArguments, { cwd, encoding: "utf8" });
  if (status !== 0) throw new Error(`${command} failed: ${stderr}`);
}

/**
 * A program with threads, thread-local and copied variables, the environment, initialisers, an undefined weak symbol.
 */
export const everything = `
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <pthread.h>
#include <unistd.h>
extern char **environ;
extern int nowhere(void) __attribute__((weak));
static _Thread_local int counter = 41;
static _Thread_local int zero_at_first;
char zeros[100000];
static void *in_thread(void *unused) { counter++; zero_at_first++; return unused; }
static void leave(void) { puts("left"); }
__attribute__((constructor)) static void enter(void) { fprintf(stdout, "entered\\n"); }
int main(int count, char **arguments) {
  int (*print)(const char *) = puts;
  setenv("SMALL", "1", 1);
  atexit(leave);
  pthread_t thread;
  pthread_create(&thread, 0, in_thread, 0);
  pthread_join(thread, 0);
  counter += count;
  print(arguments[count - 1]);
  printf("%d %d %s %d %d\\n", counter, zero_at_first, environ ? getenv("SMALL") : "no", zeros[99999], &nowhere == 0);
  return 3;
}`;

/** Compiles a small program that uses the GOT: with exported data, zeros, a weak symbol that nothing defines. */
export function smallProgram(): Uint8Array {
  const linkOptions = ["-Wl,--export-dynamic,-z,dynamic-undefined-weak"];
  return dynamicProgram({ source: little, compileOptions: ["-fPIC"], linkOptions });
}

const little = `#include <stdio.h>
extern int weak_one(void) __attribute__((weak));
char zeros[10000];
int exported = 7;
int main(void) { puts("hello"); return weak_one ? weak_one() : exported + zeros[5]; }`;
