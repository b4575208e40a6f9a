import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { sbomPathOf } from "../../build/evidence/sbom.ts";
import { digestOf } from "../../build/evidence/sums.ts";
import { knownPlatforms } from "../../build/image/oci.ts";
import { tarOf } from "../../build/image/tar.ts";
import { completeRelease, files } from "../../build/release/files.ts";
import packageJson from "../../package.json";
import { ebbPath } from "../harness/ebb.ts";

const project = resolve(import.meta.dirname, "../..");
const { version } = packageJson;

/**
 * Makes a release in `folder`: as the real one, but with a few words in the place of each executable, and a chart of
 * nothing but its name.
 */
export function makeRelease(folder: string, name: string, words = "for"): void {
  mkdirSync(folder);
  for (const { file } of Object.values(knownPlatforms)) {
    const path = join(folder, file);
    const bytes = new TextEncoder().encode(`${words} ${file}`);
    const sbom = JSON.parse(readFileSync(sbomPathOf(ebbPath), "utf8"));
    sbom.metadata.component.hashes[0].content = digestOf(bytes);
    writeFileSync(path, bytes);
    writeFileSync(sbomPathOf(path), JSON.stringify(sbom));
  }
  const out = join(folder, files.image.replace(/\.tar$/, ""));
  const image = [join(project, "build/image/image.ts"), "--from", folder, "--out", out, "--tar", "--name", name];
  const { exitCode, stderr } = Bun.spawnSync([process.execPath, ...image]);
  if (exitCode !== 0) throw new Error(stderr.toString());
  const chart = `apiVersion: v2\nname: ebb\nversion: ${version}\nappVersion: ${version}\n`;
  const tar = tarOf([{ path: "ebb/Chart.yaml", mode: 0o644, bytes: new TextEncoder().encode(chart) }], 0);
  writeFileSync(join(folder, files.chart), Bun.gzipSync(tar as Uint8Array<ArrayBuffer>));
  rmSync(out, { recursive: true });
  completeRelease(folder, ebbPath);
}
