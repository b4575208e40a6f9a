import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import { inputs } from "../../build/evidence/source.ts";
import { findToolchain } from "../../build/link/toolchain.ts";
import { targetNamed } from "../../build/targets.ts";
import { canUnshare, temporaryFolder } from "../harness.ts";

const project = resolve(import.meta.dirname, "..", "..");
const userNamespace = canUnshare("--user") ? ["unshare", "--user"] : [];

/** What two people's machines differ in. The second user of Linux is nobody at all. */
const first = { umask: "022", through: [], env: { TZ: "UTC", LANG: "C", NODE_ENV: "production" } };
const second = {
  umask: "077",
  through: userNamespace,
  env: { TZ: "Asia/Tokyo", LANG: "de_DE.UTF-8", USER: "nobody", SOURCE_DATE_EPOCH: "1", COLUMNS: "40" },
};

// the baseline differs from x64 in nothing but Bun
describe.each([targetNamed("x64"), targetNamed("arm64")])("for $name, the executable", (target) => {
  // named in the title, because a test that is skipped says nothing else
  const obstacle = obstacleTo(() => findToolchain(target));
  const why = obstacle === undefined ? "" : ` (skipped: ${obstacle})`;

  test.skipIf(obstacle !== undefined)(
    `is the same to the byte when it is built elsewhere${why}`,
    () => {
      using one = temporaryFolder();
      using other = temporaryFolder();
      const digest = build(target.name, join(one.path, "ebb"), one.path, first);
      expect(digest).toMatch(/^[0-9a-f]{64}$/);
      expect(build(target.name, join(other.path, "a folder", "more deeply", "nésted"), other.path, second)).toBe(
        digest,
      );
    },
    120_000,
  );
});

type Surroundings = typeof first | typeof second;

/** Builds a copy of this project; its node_modules is a link, from another place each time. */
function build(target: string, tree: string, home: string, { umask, through, env }: Surroundings): string {
  mkdirSync(tree, { recursive: true });
  for (const path of inputs) cpSync(join(project, path), join(tree, path), { recursive: true });
  symlinkSync(join(project, "node_modules"), join(tree, "node_modules"));
  const outfile = join(tree, "out", "ebb");
  const command = 'umask "$0" && exec "$@"';
  const words = [...through, process.execPath, "build/build.ts", "--target", target, "--outfile", outfile];
  const { PATH = "", XDG_CACHE_HOME = join(process.env.HOME ?? "", ".cache") } = process.env;
  const { exitCode, stderr } = Bun.spawnSync(["sh", "-c", command, umask, ...words], {
    cwd: tree,
    env: { PATH, XDG_CACHE_HOME, HOME: home, TMPDIR: home, ...env },
  });
  expect({ exitCode, stderr: stderr.toString() }).toEqual({ exitCode: 0, stderr: "" });
  expect(statSync(outfile).mode & 0o777).toBe(0o755);
  return createHash("sha256").update(readFileSync(outfile)).digest("hex");
}

/** The message of what it throws; undefined where it throws nothing. */
function obstacleTo(work: () => unknown): string | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
