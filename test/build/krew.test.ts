import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parse } from "yaml";
import { digestOf } from "../../build/evidence/sums.ts";
import { version } from "../../package.json";
import { temporaryFolder } from "../harness/ebb.ts";

// krew's rules: sigs.k8s.io/krew v0.4.3 internal/index/validation/validate.go. The real krew has installed such an archive by hand.

const script = resolve(import.meta.dirname, "../../build/krew/krew.ts");

function run(...words: readonly string[]): number {
  const { exitCode } = Bun.spawnSync([process.execPath, script, ...words], { stderr: "ignore" });
  return exitCode;
}

test("the manifest names archives by what is in them, for each system and processor, and the same again", () => {
  using from = temporaryFolder();
  using out = temporaryFolder();
  using again = temporaryFolder();
  for (const target of ["linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64"])
    writeFileSync(join(from.path, `ebb-${target}`), `ebb for ${target}`);
  const flags = ["--url", "https://example.com/v/", "--from", from.path];
  for (const folder of [out, again]) expect(run(...flags, "--out", folder.path)).toBe(0);

  const text = readFileSync(join(out.path, "ebb.yaml"), "utf8");
  expect(readFileSync(join(again.path, "ebb.yaml"), "utf8")).toBe(text);
  const { apiVersion, kind, metadata, spec } = parse(text);
  expect({ apiVersion, kind, metadata }).toEqual({
    apiVersion: "krew.googlecontainertools.github.com/v1alpha2",
    kind: "Plugin",
    metadata: { name: "ebb" },
  });
  expect(spec).toMatchObject({ version: `v${version}`, homepage: "https://example.com/v/" });
  expect(spec.shortDescription).toMatch(/^.{1,50}$/);
  const archs = [];
  for (const { selector, uri, sha256, bin } of spec.platforms) {
    const { os, arch } = selector.matchLabels;
    archs.push([os, arch, bin]);
    const file = join(out.path, uri.replace("https://example.com/v/", ""));
    expect(digestOf(readFileSync(file))).toBe(sha256);
    const { stdout } = Bun.spawnSync(["tar", "--extract", "--gzip", "--to-stdout", "--file", file, "ebb"]);
    expect(stdout.toString()).toBe(`ebb for ${os}-${arch === "amd64" ? "x64" : arch}`);
    const listed = Bun.spawnSync(["tar", "--list", "--verbose", "--file", file]).stdout.toString();
    expect(listed).toMatch(/^-rwxr-xr-x .* ebb\n-rw-r--r-- .* LICENSE\n$/);
  }
  expect(archs).toEqual([
    ["linux", "amd64", "ebb"],
    ["linux", "arm64", "ebb"],
    ["darwin", "amd64", "ebb"],
    ["darwin", "arm64", "ebb"],
  ]);
});

test("without a place to download from there is no manifest", () => expect(run()).toBe(64));
