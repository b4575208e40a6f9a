import { describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ebb, temporaryFolder } from "../../harness/ebb.ts";
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
});

test("a thousand documents", async () => {
  const one = rendered.slice(rendered.indexOf("apiVersion: apps/v1"), rendered.lastIndexOf("---"));
  const { code, stdout, stderr } = await inject(Array(1000).fill(one).join("---\n"));
  expect([code, stderr.match(/put ebb into/g)?.length, stdout.match(/^---$/gm)?.length]).toEqual([0, 1000, 999]);
}, 120_000);
