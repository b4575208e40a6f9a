import { type SpawnSyncReturns, spawnSync } from "node:child_process";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { goPath, goVersion } from "../../build/go.mjs";
import type { Program } from "./programs.ts";

/** go.mod and go.sum. */
export const pinNames = ["go.mod", "go.sum"] as const;

/** The folder that has them for a program. */
export function pinsFolder({ pins }: Program): string {
  return join(import.meta.dirname, "modules", pins);
}

/** Copies a package main of ours to where it is compiled. */
export function copyOwn({ own }: Program, scratch: string): void {
  if (own !== undefined) copyFileSync(join(import.meta.dirname, own, "main.go"), join(scratch, "main.go"));
}

/** Runs Go in a folder with Go's own caches. @throws Error with what Go said where it fails, three times: it downloads */
export function go(words: readonly string[], cwd: string, flags: string): string {
  const program = goPath();
  if (program === undefined)
    throw new Error(`no Go that is new enough: node build/setup.mjs sidecars gets ${goVersion}`);
  const env = { ...process.env, CGO_ENABLED: "0", GOTOOLCHAIN: "local", GOWORK: "off", GOFLAGS: flags };
  let ended: SpawnSyncReturns<string> | undefined;
  for (let left = 3; left > 0; left--) {
    ended = spawnSync(program, words, { cwd, encoding: "utf8", maxBuffer: 2 ** 28, env });
    if (ended.status === 0) return ended.stdout;
  }
  throw new Error(`go ${words.join(" ")}: ${ended?.error?.message ?? ended?.stderr}`);
}
