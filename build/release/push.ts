import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { sbomPathOf } from "../evidence/sbom.ts";
import { knownPlatforms } from "../image/oci.ts";
import { run } from "../run.ts";
import { files, imageIn } from "./files.ts";

// bun build/release/push.ts [--from FOLDER] pushes the image and the chart of a release, signs both and SHA256SUMS, and
// attests what is in the image. skopeo, helm and cosign do that; cosign's flags may be COSIGN_FLAG.

const { values } = parseArgs({ options: { from: { type: "string" } } });

try {
  push(resolve(values.from ?? join(import.meta.dirname, "../../dist/release")));
} catch (error) {
  process.stderr.write(`push: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}

function push(folder: string): void {
  run(["sha256sum", "--check", "--quiet", "--strict", files.sums], { cwd: folder, isShown: true });
  const { name, digest } = imageIn(folder);
  const image = `${name.replace(/:[^:/]*$/, "")}@${digest}`;
  const copy = ["copy", "--all", "--preserve-digests", `oci-archive:${join(folder, files.image)}`, `docker://${name}`];
  run(["skopeo", "--insecure-policy", ...copy], { isShown: true });
  cosign("sign", "--recursive", image);
  for (const { file } of Object.values(knownPlatforms))
    cosign("attest", "--type", "cyclonedx", "--predicate", sbomPathOf(join(folder, file)), image);
  if (existsSync(join(folder, files.chart)))
    cosign("sign", pushChart(join(folder, files.chart), `${dirname(name)}/charts`));
  cosign("sign-blob", "--bundle", join(folder, files.signature), join(folder, files.sums));
}

/** Signs with the key of COSIGN_KEY or, without it, as the workflow that runs this. */
function cosign(command: string, ...words: readonly string[]): void {
  run(["cosign", command, "--yes", ...words], { isShown: true });
}

/** Pushes the chart into the repository `charts/ebb` beside the image's, and returns its name with its digest. */
function pushChart(chart: string, repository: string): string {
  const said = run(["sh", "-c", 'helm push "$0" "$1" 2>&1', chart, `oci://${repository}`]);
  const [, pushed, digest] = /^Pushed: (\S+):[^:]*\n^Digest: (\S+)$/m.exec(said) ?? [];
  if (pushed === undefined) throw new Error(`helm push does not say what it pushed: ${said}`);
  return `${pushed}@${digest}`;
}
