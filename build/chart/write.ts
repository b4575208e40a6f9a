import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import { stringify } from "yaml";
import { name, version } from "../../package.json";
import { sourceOf } from "../evidence/source.ts";
import { gzip, tarOf } from "../image/tar.ts";
import { run } from "../run.ts";
import { chartFiles } from "./chart.ts";

// bun build/chart/write.ts writes the Helm chart, the bases for Kustomize, and an archive of each.

const project = resolve(import.meta.dirname, "../..");

const { values } = parseArgs({
  options: {
    repository: { type: "string" },
    out: { type: "string", default: join(project, "dist") },
  },
});

const chart = chartFiles(values.repository ?? "");
writeFolder(join(values.out, "chart", name), chart);
writeFile(join(values.out, `${name}-${version}.tgz`), archiveOf(chart));
const bases = kustomizeFiles();
writeFolder(join(values.out, "kustomize"), bases);
writeFile(join(values.out, `${name}-${version}-kustomize.tgz`), archiveOf(bases));

/** Packs files in a folder `ebb`, as `helm package` does. The same files and the same commit give the same bytes. */
function archiveOf(files: ReadonlyMap<string, string>): Uint8Array {
  const entries = [...files].map(([path, text]) => ({
    path: `${name}/${path}`,
    mode: 0o644,
    bytes: new TextEncoder().encode(text),
  }));
  return gzip(tarOf(entries, sourceOf(project).epoch ?? 0));
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

function writeFolder(folder: string, files: ReadonlyMap<string, string>): void {
  rmSync(folder, { recursive: true, force: true });
  for (const [path, text] of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  process.stdout.write(`${relative(process.cwd(), folder)}\n`);
}

function writeFile(path: string, bytes: Uint8Array): void {
  writeFileSync(path, bytes);
  process.stdout.write(`${relative(process.cwd(), path)}\n`);
}
