import { expect } from "bun:test";
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import { inputs } from "../../build/evidence/source.ts";
import { canUnshare } from "../harness.ts";

const project = resolve(import.meta.dirname, "..", "..");
const userNamespace = canUnshare("--user") ? ["unshare", "--user"] : [];

/** What two people's machines differ in. The second user of Linux is nobody at all. */
export const first = { umask: "022", through: [], env: { TZ: "UTC", LANG: "C", NODE_ENV: "production" } };
export const second = {
  umask: "077",
  through: userNamespace,
  env: { TZ: "Asia/Tokyo", LANG: "de_DE.UTF-8", USER: "nobody", SOURCE_DATE_EPOCH: "1", COLUMNS: "40" },
};

type Surroundings = typeof first | typeof second;

/** Copies this project, with a link for its node_modules, and builds there. `home` is for what the build leaves behind. */
export function buildElsewhere(
  tree: string,
  home: string,
  words: readonly string[],
  { umask, through, env }: Surroundings,
): void {
  mkdirSync(tree, { recursive: true });
  for (const path of inputs) cpSync(join(project, path), join(tree, path), { recursive: true });
  symlinkSync(join(project, "node_modules"), join(tree, "node_modules"));
  const command = [...through, process.execPath, "build/build.ts", ...words];
  const { PATH = "", XDG_CACHE_HOME = join(process.env.HOME ?? "", ".cache") } = process.env;
  const { exitCode, stderr } = Bun.spawnSync(["sh", "-c", 'umask "$0" && exec "$@"', umask, ...command], {
    cwd: tree,
    env: { PATH, XDG_CACHE_HOME, HOME: home, TMPDIR: home, ...env },
  });
  expect({ exitCode, stderr: stderr.toString() }).toEqual({ exitCode: 0, stderr: "" });
}

export function sha256Of(path: string): string {
  return createHash("sha256").update(readFileSync(path)).digest("hex");
}
