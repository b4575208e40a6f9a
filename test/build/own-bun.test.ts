import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { sbomPathOf } from "../../build/evidence/sbom.ts";
import { digestOf } from "../../build/evidence/sums.ts";
import { fetchPinnedBun } from "../../build/link/pinned-bun.ts";
import { targetNamed } from "../../build/targets.ts";
import { temporaryFolder } from "../harness/ebb.ts";

const project = resolve(import.meta.dirname, "..", "..");

test("ebb is linked with a Bun that somebody has changed, as the LGPL wants it, and the bill of materials says so", () => {
  using folder = temporaryFolder();
  const bun = join(folder.path, "bun");
  const outfile = join(folder.path, "ebb");
  const bytes = readFileSync(fetchPinnedBun(targetNamed(process.arch), join(project, "package-lock.json")));
  const [before, after] = ["Failed to allocate JavaScriptCore", "Failed to allocate JavaScriptCoRE"];
  const at = bytes.indexOf(before);
  expect(at).toBeGreaterThan(0);
  bytes.write(after, at);
  writeFileSync(bun, bytes, { mode: 0o755 });
  const words = [process.execPath, "build/build.ts", "--bun", bun, "--outfile", outfile];
  const { exitCode, stderr } = Bun.spawnSync(words, { cwd: project });
  expect({ exitCode, stderr: stderr.toString() }).toEqual({ exitCode: 0, stderr: "" });
  expect(readFileSync(outfile).includes(after)).toBe(true);
  const { components } = JSON.parse(readFileSync(sbomPathOf(outfile), "utf8"));
  const [inside] = components.filter(({ name }: { name: string }) => name === "Bun");
  expect(inside).toMatchObject({
    version: process.versions.bun,
    hashes: [{ alg: "SHA-256", content: digestOf(bytes) }],
  });
}, 120_000);
