import { describe, expect, test } from "bun:test";
import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { childPath } from "../../harness/compiled.ts";
import { ebb, ebbPath, temporaryFolder } from "../../harness/ebb.ts";
import { built, isRoot } from "./installed.ts";

const digest = digestOf(ebbPath);

function digestOf(path: string): string {
  return new Bun.CryptoHasher("sha256").update(readFileSync(path)).digest("hex");
}

/** Expects `dest` to be ebb, whole, mode 0755, and alone in its folder. */
function expectInstalled(folder: string, name = "ebb"): void {
  const dest = join(folder, name);
  expect(readdirSync(folder)).toEqual([name]);
  expect([statSync(dest).mode & 0o7777, digestOf(dest)]).toEqual([0o755, digest]);
}

describe("ebb install makes a whole copy", () => {
  test("that starts, and says so in one line", async () => {
    using folder = temporaryFolder();
    const dest = join(folder.path, "ebb");
    const { code, stdout, log } = await ebb(["install", dest]);
    expect({ code, stdout, log }).toMatchObject({
      code: 0,
      stdout: "",
      log: [{ msg: "ebb: installed ebb", dest, bytes: built }],
    });
    expectInstalled(folder.path);
    const run = Bun.spawnSync([dest, "run", "--sidecar", "none", "--quiet", "--", childPath(), "exit", "42"]);
    expect(run.exitCode).toBe(42);
  });

  test("mode 0755, whatever the umask and its own mode, and nothing is printed with --quiet", async () => {
    using elsewhere = temporaryFolder();
    const program = join(elsewhere.path, "ebb");
    copyFileSync(ebbPath, program);
    chmodSync(program, 0o555);
    using folder = temporaryFolder();
    const through = ["sh", "-c", 'umask 777; exec "$@"', "sh"];
    const { code, stdout, stderr } = await ebb(["install", "--quiet", join(folder.path, "ebb")], { through, program });
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: "", stderr: "" });
    expectInstalled(folder.path);
  });

  test("to a path relative to the working directory", async () => {
    using folder = temporaryFolder();
    expect((await ebb(["install", "other"], { cwd: folder.path })).code).toBe(0);
    expectInstalled(folder.path, "other");
  });

  test("instead of an older file, even while that one runs", async () => {
    using folder = temporaryFolder();
    const dest = join(folder.path, "ebb");
    copyFileSync(ebbPath, dest);
    appendFileSync(dest, "older");
    await using old = Bun.spawn([dest, "sleep", "1000h"], { stdin: "ignore" });
    expect(await ebb(["install", dest])).toMatchObject({ code: 0 });
    expectInstalled(folder.path);
    expect(old.exitCode).toBeNull();
  });

  test("instead of a symbolic link, not of what that points to", async () => {
    using folder = temporaryFolder();
    using elsewhere = temporaryFolder();
    const target = join(elsewhere.path, "target");
    writeFileSync(target, "kept");
    symlinkSync(target, join(folder.path, "ebb"));
    expect((await ebb(["install", join(folder.path, "ebb")])).code).toBe(0);
    expectInstalled(folder.path);
    expect(readFileSync(target, "utf8")).toBe("kept");
  });

  test("again where there is one", async () => {
    using folder = temporaryFolder();
    const dest = join(folder.path, "ebb");
    await ebb(["install", dest]);
    const { ino } = statSync(dest);
    expect((await ebb(["install", dest])).log).toMatchObject([{ msg: "ebb: installed ebb" }]);
    expectInstalled(folder.path);
    expect(statSync(dest).ino).not.toBe(ino);
  });

  test("of the program that runs, onto itself, and where its own file has gone", async () => {
    using folder = temporaryFolder();
    const [self, dest] = [join(folder.path, "self"), join(folder.path, "dest")];
    copyFileSync(ebbPath, self);
    expect(Bun.spawnSync([self, "install", self]).exitCode).toBe(0);
    expectInstalled(folder.path, "self");
    const through = ["sh", "-c", 'exec 9<"$0"; rm "$0"; shift; exec /proc/self/fd/9 "$@"', self];
    expect((await ebb(["install", dest], { through })).code).toBe(0);
    expectInstalled(folder.path, "dest");
  });
});

describe("what is no place for a copy is exit code 64:", () => {
  test.each([
    ["no file", [], /expected one file/],
    ["an empty name", [""], /expected one file/],
    ["two files", ["/a", "/b"], /expected one file/],
    ["a folder", ["/tmp"], /^ebb: install: \/tmp is a folder; did you mean \/tmp\/ebb\?\n$/],
    ["a folder with a slash", ["/tmp/"], /did you mean \/tmp\/ebb\?/],
    ["what ends with a slash", ["/nosuch/"], /did you mean \/nosuch\/ebb\?/],
    ["a device", ["/dev/null"], /\/dev\/null is not a regular file/],
  ])("%s", async (_, args, message) => {
    expect(await ebb(["install", ...args])).toMatchObject({
      code: 64,
      stdout: "",
      stderr: expect.stringMatching(message),
    });
  });
});

describe.skipIf(!isRoot)(
  "as init container of an image with nothing but ebb: an empty, read-only root (which needs root)",
  () => {
    test.each([
      ["with /proc", 'mkdir "$0/proc"; mount -t proc none "$0/proc"; '],
      ["without /proc", ""],
    ])("%s", async (_, mountProc) => {
      using root = temporaryFolder();
      copyFileSync(ebbPath, join(root.path, "ebb"));
      mkdirSync(join(root.path, "shared"));
      using volume = temporaryFolder();
      const script = `${mountProc}mount --rbind "$0" "$0" && mount --bind ${volume.path} "$0/shared" && mount -o remount,bind,ro "$0" && exec chroot "$0" "$@"`;
      const inside = ["unshare", "--mount", "sh", "-c", script, root.path, "/ebb", "install", "/shared/ebb"];
      const { exitCode, stderr } = Bun.spawnSync(inside);
      expect([exitCode, stderr.toString()]).toEqual([0, expect.stringContaining("ebb: installed ebb")]);
      expectInstalled(volume.path);
    });
  },
);
