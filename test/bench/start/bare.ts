import { spawnSync } from "node:child_process";
import { join, resolve } from "node:path";
import { place } from "./place.ts";

/** The paths of programs that do nothing of their own, made as ebb is: they show what Bun itself costs. */
export interface Bare {
  /** A program that prints hello, and ends. */
  readonly hello: string;
  /** A program that spawns its arguments, and exits with the child's code. */
  readonly spawn: string;
}

const project = resolve(import.meta.dirname, "..", "..", "..");

/** Builds both programs in a folder. @throws Error if the build fails */
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
