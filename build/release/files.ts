import { copyFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import packageJson from "../../package.json";
import { alertsPath } from "../monitoring/monitoring.ts";
import { run } from "../run.ts";
import { writeSums } from "../setup/sums.mjs";

const { name, version } = packageJson;
const changelog = join(import.meta.dirname, "../../src/CHANGELOG.md");
const monitoring = join(import.meta.dirname, "../monitoring");

/** The names of the files of a release, beside the executables and what the build writes about them. */
export const files = {
  /** The image of all platforms: an OCI image layout in a tar archive. */
  image: `${name}-${version}-image.tar`,
  chart: `${name}-${version}.tgz`,
  kustomize: `${name}-${version}-kustomize.tgz`,
  alerts: `${name}-alerts.yaml`,
  dashboard: `${name}-dashboard.json`,
  sums: "SHA256SUMS",
  signature: "SHA256SUMS.sigstore.json",
} as const;

/** The image of a release. */
type ReleasedImage = {
  /** `REGISTRY/NAME:VERSION`. */
  readonly name: string;
  /** The digest of the index of its platforms: `sha256:...`. */
  readonly digest: string;
};

/** Returns the image in the folder of a release. @throws Error if there is none */
export function imageIn(folder: string): ReleasedImage {
  const archive = join(folder, files.image);
  if (!existsSync(archive)) throw new Error(`${archive}: not there; npm run release makes it`);
  const { manifests } = JSON.parse(run(["tar", "-xOf", archive, "index.json"]));
  const [{ digest, annotations }] = manifests;
  return { name: annotations["org.opencontainers.image.ref.name"], digest };
}

/**
 * Writes into the folder of a release what users read: manifests with its image, alerts, licences, changes. Then the
 * sums of all its files. `executable` is an ebb that runs here.
 */
export function completeRelease(folder: string, executable: string): void {
  const { name: image, digest } = imageIn(folder);
  const print = (file: string, ...words: readonly string[]): void =>
    writeFileSync(join(folder, file), run([executable, ...words]));
  for (const component of ["webhook", "reaper"])
    print(`ebb-${component}.yaml`, "manifests", component, "--image", `${image}@${digest}`);
  print("LICENSES.txt", "--licenses");
  copyFileSync(alertsPath, join(folder, files.alerts));
  copyFileSync(join(monitoring, "dashboard.json"), join(folder, files.dashboard));
  writeFileSync(join(folder, "CHANGES.md"), changesOf(readFileSync(changelog, "utf8")));
  writeSums(folder);
}

/** Returns the paths of the files that two releases do not have alike, by their SHA256SUMS; empty if they are the same. */
export function differingFiles(one: string, other: string): readonly string[] {
  const linesIn = (folder: string) => new Set(readFileSync(join(folder, files.sums), "utf8").split("\n"));
  const differing = linesIn(one).symmetricDifference(linesIn(other));
  return [...new Set([...differing].map((line) => line.slice(66)))].toSorted();
}

/** Returns the part of the CHANGELOG about this version, which is the first. */
function changesOf(text: string): string {
  return /^## [\s\S]*?(?=^## |$(?![\s\S]))/m.exec(text)?.[0] ?? "";
}
