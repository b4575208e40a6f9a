import { describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sourceOf } from "../../../build/evidence/source.ts";
import { temporaryFolder } from "../../harness/ebb.ts";

const commit = "0123456789abcdef0123456789abcdef01234567";

/** A clone with one commit, made at 1234567890. */
function clone(folder: string): string {
  const identity = ["-c", "user.name=n", "-c", "user.email=e", "-c", "commit.gpgsign=false"];
  const env = { ...process.env, GIT_COMMITTER_DATE: "1234567890 +0100", GIT_CONFIG_GLOBAL: "/dev/null" };
  const git = (...words: string[]) =>
    spawnSync("git", ["-C", folder, ...identity, ...words], { env, encoding: "utf8" });
  mkdirSync(join(folder, "src"));
  writeFileSync(join(folder, "src", "main.ts"), "one");
  writeFileSync(join(folder, "README.md"), "one");
  git("init", "-q");
  git("add", ".");
  git("commit", "-q", "-m", "one");
  return git("rev-parse", "HEAD").stdout.trim();
}

describe("in a clone, the source", () => {
  test("is the commit, and what changed means what the build reads", () => {
    using folder = temporaryFolder();
    const head = clone(folder.path);
    expect(head).toMatch(/^[0-9a-f]{40}$/);
    const clean = { commit: head, dirty: false, epoch: 1_234_567_890 };
    expect(sourceOf(folder.path, {})).toEqual(clean);
    writeFileSync(join(folder.path, "README.md"), "two");
    expect(sourceOf(folder.path, {})).toEqual(clean);
    writeFileSync(join(folder.path, "src", "new.ts"), "");
    expect(sourceOf(folder.path, {})).toEqual({ ...clean, dirty: true });
  });

  test("is not that of a folder around it", () => {
    using folder = temporaryFolder();
    clone(folder.path);
    expect(sourceOf(join(folder.path, "src"), {})).toMatchObject({ commit: null, dirty: false });
  });
});

describe("elsewhere, the source", () => {
  test.each([
    ["is what EBB_COMMIT tells", { EBB_COMMIT: commit }, { commit, dirty: false, epoch: null }],
    ["is what EBB_COMMIT tells, changed", { EBB_COMMIT: `${commit}-dirty` }, { commit, dirty: true, epoch: null }],
    ["has the time of SOURCE_DATE_EPOCH", { SOURCE_DATE_EPOCH: "12" }, { commit: null, dirty: false, epoch: 12 }],
    ["is not known", { EBB_COMMIT: "", SOURCE_DATE_EPOCH: "" }, { commit: null, dirty: false, epoch: null }],
  ])("%s", (_, env, expected) => {
    using folder = temporaryFolder();
    expect(sourceOf(folder.path, env)).toEqual(expected);
  });

  test.each([
    ["EBB_COMMIT", "main"],
    ["EBB_COMMIT", `${commit}-dirt`],
    ["SOURCE_DATE_EPOCH", "yesterday"],
  ])("%s=%s is refused", (name, value) => {
    expect(() => sourceOf("/", { [name]: value })).toThrow(new RegExp(`^${name}: expected .*"${value}"$`));
  });
});
