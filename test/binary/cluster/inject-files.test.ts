import { describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ebb, ebbPath, temporaryFolder } from "../../harness/ebb.ts";
import { image, inject, refusedJob, rendered } from "./inject-calls.ts";

describe("files", () => {
  function folderOf(files: Readonly<Record<string, string>>) {
    const folder = temporaryFolder();
    mkdirSync(join(folder.path, "inner"));
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder.path, name), text);
    return folder;
  }

  const deployment = rendered.slice(rendered.indexOf("apiVersion: apps/v1"), rendered.lastIndexOf("---"));

  test("and folders of them, in the order of their names, are one stream", async () => {
    using folder = folderOf({
      "b.yaml": "b: 1",
      "a.yml": deployment,
      "c.json": '{"c": 1}\n',
      "d.txt": "d: 1\n",
      "inner/e.yaml": "e: 1\n",
    });
    const { code, stdout } = await ebb(["inject", "--image", image, "-q", "-f", folder.path]);
    expect(code).toBe(0);
    expect(stdout).toStartWith("apiVersion: apps/v1\n");
    expect(stdout).toEndWith('\n---\nb: 1\n---\n{"c": 1}\n');
    const all = await ebb(["inject", "--image", image, "-q", "-R", folder.path]);
    expect(all.stdout).toBe(`${stdout}---\ne: 1\n`);
  });

  test("--in-place writes those that change, through links, with their mode, and leaves nothing else behind", async () => {
    using folder = folderOf({ "a.yaml": deployment, "b.yaml": "b: 1" });
    Bun.spawnSync(["chmod", "640", join(folder.path, "a.yaml")]);
    symlinkSync("../a.yaml", join(folder.path, "inner", "link.yaml"));
    const printed = await ebb(["inject", "--image", image, join(folder.path, "a.yaml")]);
    const written = await ebb([
      "inject",
      "--image",
      image,
      "-i",
      join(folder.path, "inner/link.yaml"),
      join(folder.path, "b.yaml"),
    ]);
    expect(written).toMatchObject({ code: 0, stdout: "" });
    expect(readFileSync(join(folder.path, "a.yaml"), "utf8")).toBe(printed.stdout);
    expect(readFileSync(join(folder.path, "b.yaml"), "utf8")).toBe("b: 1");
    const { stdout } = Bun.spawnSync([
      "stat",
      "-c",
      "%a %F",
      join(folder.path, "a.yaml"),
      join(folder.path, "inner/link.yaml"),
    ]);
    expect(stdout.toString()).toBe("640 regular file\n777 symbolic link\n");
    expect(readdirSync(folder.path).toSorted()).toEqual(["a.yaml", "b.yaml", "inner"]);
  });

  test("one that is refused leaves all as they are", async () => {
    using folder = folderOf({ "a.yaml": deployment, "b.yaml": refusedJob });
    expect((await ebb(["inject", "--image", image, "-i", folder.path])).code).toBe(65);
    expect(readFileSync(join(folder.path, "a.yaml"), "utf8")).toBe(deployment);
  });

  test("--diff prints a patch that git takes, with exit code 1; 0 where nothing changes", async () => {
    using folder = folderOf({ "a.yaml": rendered });
    const run = (...flags: readonly string[]) =>
      ebb(["inject", "--image", image, "-q", ...flags, "a.yaml"], { cwd: folder.path });
    const [printed, diff] = [await run(), await run("--diff")];
    expect([diff.code, diff.stderr, diff.stdout.split("\n").slice(0, 2)]).toEqual([
      1,
      "",
      ["--- a/a.yaml", "+++ b/a.yaml"],
    ]);
    const applied = Bun.spawnSync(["git", "apply"], { cwd: folder.path, stdin: Buffer.from(diff.stdout) });
    expect([applied.exitCode, applied.stderr.toString()]).toEqual([0, ""]);
    expect(readFileSync(join(folder.path, "a.yaml"), "utf8")).toBe(printed.stdout);
    expect(await run("--diff")).toMatchObject({ code: 0, stdout: "" });
  });

  test.each([
    ["by an absolute path", (folder: string) => join(folder, "a.yaml"), (folder: string) => folder],
    ["by ./", () => "./a.yaml", (folder: string) => folder],
    ["by an absolute path from elsewhere, in /", (folder: string) => join(folder, "a.yaml"), () => "/"],
    ["by ../, in /", () => "../a.yaml", () => "/"],
  ])("--diff of a file %s is a patch, too", async (_, pathIn, applyIn) => {
    using folder = folderOf({ "a.yaml": deployment });
    const [path, there] = [pathIn(folder.path), applyIn(folder.path)];
    const cwd = there === "/" ? join(folder.path, "inner") : folder.path;
    const { stdout } = await ebb(["inject", "--image", image, "-q", "--diff", path], { cwd });
    const applied = Bun.spawnSync(["git", "apply"], { cwd: there, stdin: Buffer.from(stdout) });
    expect([applied.exitCode, applied.stderr.toString()]).toEqual([0, ""]);
    expect(readFileSync(join(folder.path, "a.yaml"), "utf8")).toContain("ebb-install");
  });

  test.each([
    ["coloured at a terminal", "", true],
    ["but not with NO_COLOR", "NO_COLOR=1 ", false],
  ])("--diff is %s", async (_, env, isColoured) => {
    using folder = folderOf({ "a.yaml": deployment });
    const command = `${env}TERM=xterm ${ebbPath} inject --image ${image} -q --diff a.yaml`;
    const { stdout } = Bun.spawnSync(["script", "-qec", command, "/dev/null"], { cwd: folder.path, stdin: "ignore" });
    expect(stdout.toString().includes("\x1b[32m+")).toBe(isColoured);
  });
});

test("a thousand documents", async () => {
  const one = rendered.slice(rendered.indexOf("apiVersion: apps/v1"), rendered.lastIndexOf("---"));
  const { code, stdout, stderr } = await inject(Array(1000).fill(one).join("---\n"));
  expect([code, stderr.match(/put ebb into/g)?.length, stdout.match(/^---$/gm)?.length]).toEqual([0, 1000, 999]);
}, 120_000);
