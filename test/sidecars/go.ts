import { type SpawnSyncReturns, spawnSync } from "node:child_process";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { goPath, goVersion } from "../../build/setup/go.mjs";
import type { Program } from "./programs.ts";

/** The files that pin the versions and digests of Go modules. */
export const pinNames = ["go.mod", "go.sum"] as const;

/** Returns the folder with these files for a program. */
export function pinsFolder({ pins }: Program): string {
  return join(import.meta.dirname, "modules", pins);
}

/** Copies a program's own package main, if it has one, to the folder in which it is compiled. */
export function copyOwn({ own }: Program, scratch: string): void {
  if (own !== undefined) copyFileSync(join(import.meta.dirname, own, "main.go"), join(scratch, "main.go"));
}

const TRIES = 3;

/**
 * Runs a Go command that downloads modules, and returns its output. It is tried three times, because others' servers
 * are asked. Then all that Go keeps of the modules, from earlier too, is compared with the digests in go.sum. @throws
 * Error with what Go said if the command fails, or a digest differs
 */
export function download(words: readonly string[], cwd: string, flags: string): string {
  let ended = runGo(words, cwd, flags);
  for (let left = TRIES - 1; left > 0 && ended.status !== 0; left--) ended = runGo(words, cwd, flags);
  const said = outputOf(words, ended);
  const { status, stdout, stderr } = runGo(["mod", "verify"], cwd, flags);
  if (status !== 0) throw new Error(`${stdout}${stderr}go clean -modcache removes them`);
  return said;
}

/** Runs Go in a folder, with Go's own caches, and returns its output. @throws Error with what Go said if it fails */
export function go(words: readonly string[], cwd: string, flags: string): string {
  return outputOf(words, runGo(words, cwd, flags));
}

function runGo(words: readonly string[], cwd: string, flags: string): SpawnSyncReturns<string> {
  const program = goPath();
  if (program === undefined)
    throw new Error(`no Go that is new enough: node build/setup.mjs sidecars gets ${goVersion}`);
  const env = { ...process.env, CGO_ENABLED: "0", GOTOOLCHAIN: "local", GOWORK: "off", GOFLAGS: flags };
  return spawnSync(program, words, { cwd, encoding: "utf8", maxBuffer: 2 ** 28, env });
}

function outputOf(words: readonly string[], { error, status, stdout, stderr }: SpawnSyncReturns<string>): string {
  if (status === 0) return stdout;
  throw new Error(`go ${words.join(" ")}: ${error?.message ?? stderr}`);
}
