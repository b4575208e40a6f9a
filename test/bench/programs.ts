import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync } from "node:fs";
import { dirname, join } from "node:path";
import { cacheFolder } from "../../build/cache.ts";

/** A C file of this folder, compiled once for each of its versions. */
export function programPath(name: "sidecar" | "stopwatch"): string {
  const source = join(import.meta.dirname, `${name}.c`);
  const digest = createHash("sha256").update(readFileSync(source)).digest("hex").slice(0, 16);
  const path = join(cacheFolder(), "bench", `${name}-${digest}`);
  if (existsSync(path)) return path;
  const temporary = `${path}.${process.pid}`;
  mkdirSync(dirname(path), { recursive: true });
  const { status, stderr } = spawnSync("gcc", ["-O2", "-static", "-o", temporary, source], { encoding: "utf8" });
  if (status !== 0) throw new Error(`gcc ${source}: ${stderr}`);
  renameSync(temporary, path);
  return path;
}
