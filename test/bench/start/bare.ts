import { spawnSync } from "node:child_process";
import { join, resolve } from "node:path";
import { place } from "./place.ts";

/** What Bun costs by itself: programs that do nothing of their own, made as ebb is. */
export interface Bare {
  /** Says hello, and ends. */
  readonly hello: string;
  /** Spawns its arguments, and exits with the child's code. */
  readonly spawn: string;
}

const project = resolve(import.meta.dirname, "..", "..", "..");

export function buildBare(folder: string): Bare {
  return {
    hello: place(built("hello", folder), folder, "hello"),
    spawn: place(built("spawn", folder), folder, "spawn"),
  };
}

function built(name: string, folder: string): string {
  const outfile = join(folder, name);
  const entry = join(import.meta.dirname, `${name}.ts`);
  const words = [join(project, "build", "build.ts"), "--entry", entry, "--outfile", outfile];
  const { status, stderr } = spawnSync(process.execPath, words, { cwd: project, encoding: "utf8" });
  if (status !== 0) throw new Error(`${entry} cannot be built: ${stderr}`);
  return outfile;
}
