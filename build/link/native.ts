import { spawnSync } from "node:child_process";
import { mkdirSync, renameSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

const project = resolve(import.meta.dirname, "../..");
const folder = join(project, "src", "native");
const shared = [
  "child.c",
  "files.c",
  "listeners.c",
  "locks.c",
  "mapped.c",
  "module.c",
  "output.c",
  "signals.c",
  "sockets.c",
];

/** The paths of ebb's C files that are linked into the executable. */
export const nativeSources: readonly string[] = ["entry.c", "limits.c", "before-bun.c", ...shared].map((name) =>
  join(folder, name),
);

/** The folder of `node_api.h`. */
export const nodeApiHeaders = join(project, "node_modules", "node-api-headers", "include");

/**
 * Compiles ebb's C files to the Node-API module dist/native.node, for this machine's own Bun, which runs ebb from source and
 * the unit tests. @throws Error if gcc is missing or fails
 */
export function buildNativeModule(): void {
  const outfile = join(project, "dist", "native.node");
  const sources = ["development.c", ...shared].map((name) => join(folder, name));
  const temporary = `${outfile}.${process.pid}.new`;
  const options = ["-std=gnu17", "-O2", "-shared", "-fPIC", "-fvisibility=hidden", "-isystem", nodeApiHeaders];
  mkdirSync(dirname(outfile), { recursive: true });
  const { error, status, stderr } = spawnSync("gcc", [...options, "-o", temporary, ...sources], { encoding: "utf8" });
  if (error !== undefined) throw new Error(`gcc cannot be run: ${error.message}`);
  if (status !== 0) throw new Error(`gcc failed on src/native:\n${stderr.trim()}`);
  renameSync(temporary, outfile);
}

if (import.meta.main) buildNativeModule();
