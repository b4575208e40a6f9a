import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { cacheFolder } from "../../build/setup/cache.mjs";
import { checkSums, moveIntoPlace, writeSums } from "../../build/setup/sums.mjs";

/** Returns the path of the compiled test/fixtures/child.c, the app that runs under ebb in most tests. */
export function childPath(): string {
  return compiled(join(import.meta.dirname, "..", "fixtures", "child.c"));
}

/** The paths that this process has compiled or checked. */
const checked = new Set<string>();

/**
 * Returns the path of the static executable of a C file. It is compiled with gcc once for each version of the file,
 * into the cache, and again if it is damaged. @throws Error with gcc's output if gcc fails
 */
export function compiled(source: string): string {
  const digest = createHash("sha256").update(readFileSync(source)).digest("hex").slice(0, 16);
  const name = basename(source, ".c");
  const folder = join(cacheFolder(), "compiled", `${name}-${digest}`);
  const path = join(folder, name);
  if (checked.has(path)) return path;
  const wrong = existsSync(folder) ? checkSums(folder) : "";
  if (wrong !== undefined && wrong !== "") console.log(`${folder} is damaged: ${wrong}; it is compiled again`);
  if (wrong !== undefined) compileInto(folder, source, name);
  checked.add(path);
  return path;
}

/**
 * Compiles a C file to the static executable `name` in a folder of the cache, with its digest. @throws Error if gcc
 * fails
 */
function compileInto(folder: string, source: string, name: string): void {
  mkdirSync(dirname(folder), { recursive: true });
  const temporary = mkdtempSync(`${folder}-`);
  try {
    const command = ["-O2", "-static", "-o", join(temporary, name), source];
    const { status, stderr } = spawnSync("gcc", command, { encoding: "utf8" });
    if (status !== 0) throw new Error(`gcc ${source}: ${stderr}`);
    writeSums(temporary);
    chmodSync(temporary, 0o755); // an app that runs as another user starts it
    moveIntoPlace(temporary, folder);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}
