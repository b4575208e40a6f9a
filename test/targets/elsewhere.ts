import { expect } from "bun:test";
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { sourcePaths } from "../../build/evidence/source.ts";
import { canUnshare, ebb } from "../harness/ebb.ts";

const project = resolve(import.meta.dirname, "..", "..");
const userNamespace = canUnshare("--user") ? ["unshare", "--user"] : [];

/** The surroundings of two people's builds, which must not matter. In a user namespace the second user is nobody. */
export const first = { umask: "022", through: [], env: { TZ: "UTC", LANG: "C", NODE_ENV: "production" } };
export const second = {
  umask: "077",
  through: userNamespace,
  env: { TZ: "Asia/Tokyo", LANG: "de_DE.UTF-8", USER: "nobody", SOURCE_DATE_EPOCH: "1", COLUMNS: "40" },
};

type Surroundings = typeof first | typeof second;

/**
 * Copies this project to `tree`, with its node_modules, and builds there with the arguments `words`, as the
 * commit of dist/ebb. HOME and TMPDIR are `home`. Fails if the build does.
 */
export async function buildElsewhere(
  tree: string,
  home: string,
  words: readonly string[],
  { umask, through, env }: Surroundings,
): Promise<void> {
  mkdirSync(tree, { recursive: true });
  for (const path of [...sourcePaths, "node_modules"])
    cpSync(join(project, path), join(tree, path), { recursive: true });
  const command = [...through, process.execPath, "build/build.ts", ...words];
  const { PATH = "", XDG_CACHE_HOME = join(process.env.HOME ?? "", ".cache") } = process.env;
  const { exitCode, stderr } = Bun.spawnSync(["sh", "-c", 'umask "$0" && exec "$@"', umask, ...command], {
    cwd: tree,
    env: { PATH, XDG_CACHE_HOME, HOME: home, TMPDIR: home, ...env, ...(await commitOfEbb()) },
  });
  expect({ exitCode, stderr: stderr.toString() }).toEqual({ exitCode: 0, stderr: "" });
}

/** Returns the variable that tells the build its commit, which dist/ebb says: the copy has no .git folder. */
async function commitOfEbb(): Promise<Readonly<Record<string, string>>> {
  const { stdout } = await ebb(["--version", "--json"]);
  const { commit, dirty } = JSON.parse(stdout) as { commit: string | null; dirty: boolean };
  return commit === null ? {} : { EBB_COMMIT: dirty ? `${commit}-dirty` : commit };
}

/** Returns the SHA-256 of a file, in hexadecimal. */
export function sha256Of(path: string): string {
  return createHash("sha256").update(readFileSync(path)).digest("hex");
}
