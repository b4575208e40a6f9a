import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { version } from "../../package.json";
import { digestOf } from "../evidence/sums.ts";
import { gzip, tarOf } from "../image/tar.ts";
import { krewManifest } from "./manifest.ts";

// bun build/krew/krew.ts --url URL [--from FOLDER] [--out FOLDER]: writes ebb.yaml for krew, and the
// archives that it names, from the executables of `npm run build -- --all`. The same executables make the same bytes.

const project = resolve(import.meta.dirname, "../..");
const text = { type: "string" } as const;
const { values } = parseArgs({ options: { url: text, from: text, out: text } });
const { url, from = join(project, "dist"), out = join(project, "dist/krew") } = values;
if (url === undefined) {
  console.error("krew: expected --url URL, the folder from which the archives are to be downloaded");
  process.exit(64);
}

mkdirSync(out, { recursive: true });
const platforms = ["linux", "darwin"].flatMap((os) => ["amd64", "arm64"].map((arch) => ({ os, arch })));
const archives = platforms.map(({ os, arch }) => {
  const file = `kubectl-ebb-v${version}-${os}-${arch}.tar.gz`;
  const bytes = gzip(archiveOf(join(from, `ebb-${os}-${arch === "amd64" ? "x64" : arch}`)));
  writeFileSync(join(out, file), bytes);
  return { os, arch, uri: `${url.replace(/\/$/, "")}/${file}`, sha256: digestOf(bytes) };
});
writeFileSync(join(out, "ebb.yaml"), krewManifest(version, url, archives));

function archiveOf(executable: string): Uint8Array {
  const files = [
    { path: "ebb", mode: 0o755, bytes: readFileSync(executable) },
    { path: "LICENSE", mode: 0o644, bytes: readFileSync(join(project, "LICENSE")) },
  ];
  return tarOf(files, 0);
}
