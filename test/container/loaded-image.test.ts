import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { sbomPathOf } from "../../build/evidence/sbom.ts";
import { digestOf } from "../../build/evidence/sums.ts";
import packageJson from "../../package.json";
import { childPath } from "../harness/compiled.ts";
import { ebbPath, temporaryFolder } from "../harness/ebb.ts";
import { type Containerd, startContainerd } from "./containerd.ts";
import { obstacle, storage } from "./images.ts";
import { imageConfig, startContainer } from "./podman.ts";

setDefaultTimeout(60_000);

const project = resolve(import.meta.dirname, "..", "..");
const name = "localhost/ebb:loaded";
const version = `ebb ${packageJson.version}\n`;
const place = temporaryFolder();
const layout = join(place.path, "ebb-loaded"); // buildah names an image after its folder
const archive = `${layout}.tar`;

const lacking = process.env.CI === undefined ? obstacle() : undefined; // never skipped in CI
// named in the title, because a test that is skipped says nothing else
const why = lacking === undefined ? "" : ` (skipped: containers need ${lacking})`;

describe.skipIf(lacking !== undefined)(`the image that build/image/image.ts writes${why}`, () => {
  beforeAll(makeImage, { timeout: 120_000 });
  afterAll(() => {
    spawnSync("buildah", [...storage, "rmi", "--force", name, "localhost/ebb-loaded"]);
    place[Symbol.dispose]();
  });

  test("is loaded by podman, and runs as in a strict pod", async () => {
    expect(run("podman", ...storage, "load", "--input", archive)).toContain(name);
    expect(await imageConfig(name)).toMatchObject({ Entrypoint: ["/ebb"], User: "65532:65532" });
    await using asks = startContainer(name, ["--version"]);
    expect(await asks.ended).toEqual({ code: 0, stdout: version, stderr: "" });
    const words = ["run", "--sidecar", "none", "--quiet", "--", "/child", "exit", "37"];
    await using app = startContainer(name, words, { mounts: [`${childPath()}:/child:ro`] });
    expect(await app.ended).toEqual({ code: 37, stdout: "", stderr: "" });
  });

  test("is pulled by buildah, from its folder, to be built on", () => {
    const id = run("buildah", ...storage, "pull", "oci:ebb-loaded").trim();
    const format = "{{.OCIv1.Architecture}} {{.OCIv1.Config.User}} {{.OCIv1.Config.Entrypoint}}";
    const inspect = ["inspect", "--type", "image", "--format", format, id];
    expect(run("buildah", ...storage, ...inspect).trim()).toBe(`${architecture} 65532:65532 [/ebb]`);
  });

  describe("in containerd", () => {
    let containerd: Containerd;
    beforeAll(
      async () => {
        containerd = await startContainerd();
      },
      { timeout: 90_000 },
    );
    afterAll(() => containerd[Symbol.asyncDispose]());

    test("is imported whole, for all its platforms", async () => {
      const imported = await containerd.ctr("images", "import", "--snapshotter", "native", "--all-platforms", archive);
      expect([imported.code, imported.stderr]).toEqual([0, ""]);
      const { stdout } = await containerd.ctr("images", "check", "--snapshotter", "native");
      expect(stdout).toMatch(/^localhost\/ebb:loaded .*complete \(2\/2\)/m);
      const { stdout: listed } = await containerd.ctr("images", "list");
      expect(listed).toContain("linux/amd64,linux/arm64");
    });

    test("runs", async () => {
      const isolated = ["--rm", "--snapshotter", "native", "--read-only"];
      const ended = await containerd.ctr("run", ...isolated, name, "ebb-test", "/ebb", "--version");
      expect(ended).toEqual({ code: 0, stdout: version, stderr: "" });
    });
  });
});

const architecture = process.arch === "x64" ? "amd64" : process.arch;

/** Of this machine's executable; the other architecture's, which is not run, is a word here. */
function makeImage(): void {
  const other = process.arch === "x64" ? "arm64" : "x64";
  const here = join(place.path, `ebb-linux-${process.arch}`);
  const there = join(place.path, `ebb-linux-${other}`);
  copyFileSync(ebbPath, here);
  copyFileSync(sbomPathOf(ebbPath), sbomPathOf(here));
  const sbom = JSON.parse(readFileSync(sbomPathOf(here), "utf8"));
  sbom.metadata.component.hashes[0].content = digestOf(new TextEncoder().encode(other));
  writeFileSync(there, other);
  writeFileSync(sbomPathOf(there), JSON.stringify(sbom));
  run(
    process.execPath,
    join(project, "build/image/image.ts"),
    "--from",
    place.path,
    "--out",
    layout,
    "--tar",
    "--name",
    name,
  );
}

function run(command: string, ...words: readonly string[]): string {
  const { error, status, stdout, stderr } = spawnSync(command, words, { cwd: place.path, encoding: "utf8" });
  if (error !== undefined) throw error;
  expect([status, status === 0 ? "" : stderr]).toEqual([0, ""]);
  return stdout;
}
