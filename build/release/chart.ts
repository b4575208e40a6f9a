import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import { stringify } from "yaml";
import { name, version } from "../../package.json";
import { sourceOf } from "../evidence/source.ts";
import { gzip, tarOf } from "../image/tar.ts";
import { run } from "../run.ts";

// bun build/release/chart.ts packs the Helm chart and the bases for Kustomize: a folder and an archive of each.

const project = resolve(import.meta.dirname, "../..");

const { values } = parseArgs({
  options: {
    repository: { type: "string" },
    out: { type: "string", default: join(project, "dist") },
  },
});

pack("chart/ebb", `${name}-${version}.tgz`, chartFiles());
pack("kustomize", `${name}-${version}-kustomize.tgz`, kustomizeFiles());

/** Returns the files of the chart by their paths, with --repository as the default of image.repository. */
function chartFiles(): ReadonlyMap<string, string> {
  const folder = join(project, "build/chart");
  const paths = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) => /\.\w+$/.test(path));
  const files = new Map(paths.toSorted().map((path) => [path, readFileSync(join(folder, path), "utf8")]));
  const { repository = "" } = values;
  const written = files.get("values.yaml")?.replace('repository: ""', `repository: ${JSON.stringify(repository)}`);
  return files.set("values.yaml", written ?? "");
}

/** Returns a base for each component: what `ebb manifests` prints. */
function kustomizeFiles(): ReadonlyMap<string, string> {
  const bases = ["webhook", "reaper"].flatMap((component): [string, string][] => [
    [
      `${component}/kustomization.yaml`,
      stringify({
        apiVersion: "kustomize.config.k8s.io/v1beta1",
        kind: "Kustomization",
        resources: [`${component}.yaml`],
      }),
    ],
    [`${component}/${component}.yaml`, manifestsOf(component)],
  ]);
  return new Map(bases);
}

/** @throws Error if `ebb manifests` fails */
function manifestsOf(component: string): string {
  const { repository = "registry.example.com/ebb" } = values;
  const words = ["src/main.ts", "manifests", "--image", `${repository}:${version}`, component];
  return run([process.execPath, ...words], { cwd: project });
}

/**
 * Writes files into `folder`, and into `archive` as `helm package` does. The same files and the same commit give the
 * same bytes.
 */
function pack(folder: string, archive: string, files: ReadonlyMap<string, string>): void {
  const to = join(values.out, folder);
  rmSync(to, { recursive: true, force: true });
  for (const [path, text] of files) {
    mkdirSync(dirname(join(to, path)), { recursive: true });
    writeFileSync(join(to, path), text);
  }
  const entries = [...files].map(([path, text]) => ({
    path: `${name}/${path}`,
    mode: 0o644,
    bytes: new TextEncoder().encode(text),
  }));
  writeFileSync(join(values.out, archive), gzip(tarOf(entries, sourceOf(project).epoch ?? 0)));
  for (const path of [to, join(values.out, archive)]) process.stdout.write(`${relative(process.cwd(), path)}\n`);
}
