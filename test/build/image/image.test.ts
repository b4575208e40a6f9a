import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { digestOf } from "../../../build/evidence/sums.ts";
import { tarOf } from "../../../build/image/tar.ts";
import { temporaryFolder } from "../../harness/ebb.ts";

const project = resolve(import.meta.dirname, "../../..");
const commit = "0123456789abcdef0123456789abcdef01234567";
const place = temporaryFolder();
afterAll(() => place[Symbol.dispose]());

/** A folder as `build.ts --all` makes it, with words in the place of executables. */
function distWith(name: string, of: Partial<Record<string, { commit?: string; content?: string }>> = {}): string {
  const folder = join(place.path, name);
  mkdirSync(folder);
  for (const file of ["ebb-linux-x64", "ebb-linux-x64-baseline", "ebb-linux-arm64"]) {
    writeFileSync(join(folder, file), of[file]?.content ?? file);
    writeFileSync(join(folder, `${file}.cdx.json`), JSON.stringify(sbomOf(file, of[file]?.commit ?? commit)));
  }
  return folder;
}

function sbomOf(content: string, ofCommit: string): object {
  const properties = Object.entries({ "ebb:commit": ofCommit, "ebb:dirty": "false" }).map(([key, value]) => ({
    name: key,
    value,
  }));
  const hashes = [{ alg: "SHA-256", content: digestOf(new TextEncoder().encode(content)) }];
  const parts = [{ licenses: [{ expression: "Zlib OR MIT" }] }, { licenses: [{ expression: "MIT AND ISC" }] }];
  return {
    metadata: {
      timestamp: "2009-02-13T23:31:30.000Z",
      component: { version: "1.2.3", licenses: [{ license: { id: "MIT" } }], hashes, properties },
    },
    components: [{ licenses: [{ license: { id: "BSD-2-Clause" } }], components: parts }],
  };
}

function image(from: string, ...words: string[]): { code: number; stdout: string; stderr: string } {
  const command = [process.execPath, join(project, "build/image/image.ts"), "--from", from, ...words];
  const { exitCode, stdout, stderr } = Bun.spawnSync(command, { cwd: place.path });
  return { code: exitCode, stdout: stdout.toString(), stderr: stderr.toString() };
}

const read = (folder: string, path: string) => JSON.parse(readFileSync(join(folder, path), "utf8"));
const blob = (folder: string, { digest }: { digest: string }) => join(folder, "blobs", digest.replace(":", "/"));
const readBlob = (folder: string, descriptor: { digest: string }) => read(blob(folder, descriptor), "");

describe("the image of a build of all targets", () => {
  const dist = distWith("all");
  const result = image(dist, "--tar");
  const layout = join(dist, "image");
  const [top] = existsSync(layout) ? read(layout, "index.json").manifests : [];
  const index = top && readBlob(layout, top);

  test("is an OCI layout, of one image with one name, and an archive of the same", () => {
    expect(result.stderr).toBe("");
    expect(result.stdout).toContain("localhost/ebb:1.2.3 for linux/amd64 and linux/arm64");
    expect(read(layout, "oci-layout")).toEqual({ imageLayoutVersion: "1.0.0" });
    expect(read(layout, "index.json").manifests).toHaveLength(1);
    expect(top.annotations["org.opencontainers.image.ref.name"]).toBe("localhost/ebb:1.2.3");
    const archived = run(["tar", "-xOf", `${layout}.tar`, "index.json"]);
    expect(archived).toBe(readFileSync(join(layout, "index.json"), "utf8"));
    expect(
      run(["tar", "-tf", `${layout}.tar`])
        .split("\n")
        .filter(Boolean)
        .toSorted(),
    ).toEqual(filesIn(layout));
  });

  test("has each blob by its digest and size, and none that nothing needs", () => {
    const names = readdirSync(join(layout, "blobs", "sha256"));
    for (const name of names) expect(digestOf(readFileSync(join(layout, "blobs", "sha256", name)))).toBe(name);
    const descriptors = [top, ...index.manifests, ...index.manifests.flatMap(contents)];
    expect(descriptors.map(({ digest }) => digest.replace("sha256:", "")).toSorted()).toEqual(names.toSorted());
    for (const each of descriptors) expect(readFileSync(blob(layout, each)).length).toBe(each.size);
  });

  test("is for both architectures, with labels of the build, a user by number, and /ebb", () => {
    const platforms = index.manifests.map(({ platform }: { platform: object }) => platform);
    expect(platforms).toEqual([
      { architecture: "amd64", os: "linux" },
      { architecture: "arm64", os: "linux", variant: "v8" },
    ]);
    const labels = {
      "org.opencontainers.image.created": "2009-02-13T23:31:30.000Z",
      "org.opencontainers.image.title": "ebb",
      "org.opencontainers.image.description": expect.stringContaining("sidecar"),
      "org.opencontainers.image.version": "1.2.3",
      "org.opencontainers.image.revision": commit,
      "org.opencontainers.image.licenses": "(Zlib OR MIT) AND BSD-2-Clause AND ISC AND MIT",
    };
    expect(index.annotations).toEqual(labels);
    for (const each of index.manifests) {
      const manifest = readBlob(layout, each);
      const { config, ...rest } = readBlob(layout, manifest.config);
      expect(manifest.annotations).toEqual(labels);
      expect(config).toEqual({ User: "65532:65532", Entrypoint: ["/ebb"], WorkingDir: "/", Labels: labels });
      expect(rest).toMatchObject({ ...each.platform, created: "2009-02-13T23:31:30.000Z" });
    }
  });

  test.each(["ebb-linux-x64", "ebb-linux-arm64"])("has in its one layer nothing but %s, as root's /ebb", (name) => {
    const each = index.manifests[name.endsWith("arm64") ? 1 : 0];
    const { layers, config } = readBlob(layout, each);
    expect(layers).toHaveLength(1);
    const path = blob(layout, layers[0]);
    expect(layers[0].mediaType).toBe("application/vnd.oci.image.layer.v1.tar+gzip");
    const listed = run(["tar", "--utc", "--numeric-owner", "-tvzf", path]);
    expect(listed).toMatch(/^-rwxr-xr-x 0\/0 +\d+ 2009-02-13 23:31 ebb\n$/);
    expect(run(["tar", "-xOzf", path, "ebb"])).toBe(name);
    const unpacked = Bun.gunzipSync(readFileSync(path));
    expect(readBlob(layout, config).rootfs).toEqual({ type: "layers", diff_ids: [`sha256:${digestOf(unpacked)}`] });
  });

  test("is the same to the byte when it is made again", () => {
    const again = join(place.path, "again");
    expect(image(dist, "--tar", "--out", again).code).toBe(0);
    expect(readFileSync(`${again}.tar`).equals(readFileSync(`${layout}.tar`))).toBe(true);
  });

  function contents(descriptor: { digest: string }): { digest: string; size: number }[] {
    const { config, layers } = readBlob(layout, descriptor);
    return [config, ...layers];
  }
});

describe("an image", () => {
  test("of one platform, compressed by zstd, by another name", () => {
    const dist = distWith("one");
    const { stderr, stdout } = image(dist, "--platform", "linux/arm64", "--zstd", "--name", "registry.example.com/e:1");
    expect([stderr, stdout]).toEqual(["", expect.stringContaining("registry.example.com/e:1 for linux/arm64, ")]);
    const layout = join(dist, "image");
    const { manifests } = readBlob(layout, read(layout, "index.json").manifests[0]);
    expect(manifests).toHaveLength(1);
    const [layer] = readBlob(layout, manifests[0]).layers;
    expect(layer.mediaType).toBe("application/vnd.oci.image.layer.v1.tar+zstd");
    expect(new TextDecoder().decode(Bun.zstdDecompressSync(readFileSync(blob(layout, layer))))).toContain(
      "ebb-linux-arm64",
    );
  });

  test("for processors without AVX2 has that executable", () => {
    const dist = distWith("baseline");
    const { stderr, stdout } = image(dist, "--baseline");
    expect([stderr, stdout]).toEqual(["", expect.stringContaining("localhost/ebb:1.2.3-baseline for ")]);
    const layout = join(dist, "image");
    const { manifests } = readBlob(layout, read(layout, "index.json").manifests[0]);
    const [layer] = readBlob(layout, manifests[0]).layers;
    expect(run(["tar", "-xOzf", blob(layout, layer), "ebb"])).toBe("ebb-linux-x64-baseline");
  });
});

describe("refused is an image", () => {
  test.each<[string, () => string, string[], RegExp]>([
    [
      "of an executable that is not there",
      () => place.path,
      [],
      /ebb-linux-x64 and .*cdx.json: not there; npm run build -- --all/,
    ],
    [
      "of an executable that its bill of materials is not about",
      () => distWith("stale", { "ebb-linux-arm64": { content: "newer" } }),
      [],
      /ebb-linux-arm64.cdx.json is not about .*ebb-linux-arm64: build it again/,
    ],
    [
      "of executables of different commits",
      () => distWith("mixed", { "ebb-linux-arm64": { commit: commit.replace("0", "f") } }),
      [],
      /of different commits/,
    ],
    [
      "for a platform that ebb is not built for",
      () => distWith("none"),
      ["--platform", "linux/386"],
      /--platform: .*linux\/386/,
    ],
    [
      "in the place of something else",
      () => distWith("taken"),
      ["--out", project],
      /there is something else than an image/,
    ],
  ])("%s", (_, dist, words, message) => {
    const folder = dist();
    const { code, stderr } = image(folder, ...words);
    expect(stderr).toMatch(message);
    expect(code).toBe(1);
    expect(existsSync(join(folder, "image"))).toBe(false);
  });
});

describe("a tar archive", () => {
  test("ends with two empty blocks, and has each file from a block's beginning", () => {
    const archive = tarOf([{ path: "a", mode: 0o600, bytes: new Uint8Array(513).fill(65) }], 0);
    expect(archive).toHaveLength(512 * (1 + 2 + 2));
    expect(archive.subarray(-1024).every((byte) => byte === 0)).toBe(true);
  });

  test.each([
    ["a name that is too long", "x".repeat(101), 0],
    ["a name with a space", "a b", 0],
    ["a time before 1970", "a", -1],
    ["a time after 2242", "a", 8 ** 11],
  ])("is refused for %s", (_, path, mtime) => {
    expect(() => tarOf([{ path, mode: 0o644, bytes: new Uint8Array() }], mtime)).toThrow();
  });
});

function run(command: string[]): string {
  const { stdout, stderr, exitCode } = Bun.spawnSync(command, { env: { ...process.env, TZ: "UTC" } });
  expect({ exitCode, stderr: stderr.toString() }).toEqual({ exitCode: 0, stderr: "" });
  return stdout.toString();
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile())
    .map((each) => join(each.parentPath, each.name).slice(folder.length + 1))
    .toSorted();
}
