import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import { sbomPathOf } from "../evidence/sbom.ts";
import { digestOf } from "../evidence/sums.ts";
import { imageLabels, revisionLabel, type Sbom } from "./image-labels.ts";
import { ebbConfig, type ImageInput, knownPlatforms, ociLayout, type PlatformImage } from "./oci.ts";
import { tarOf } from "./tar.ts";

// bun build/image/image.ts makes an image of dist/ebb-linux-* (from `build.ts --all`) without any container engine.

type Order = {
  readonly platforms: readonly string[];
  readonly from: string;
  readonly out: string;
  readonly archive: string | undefined;
  readonly name: string | undefined;
  readonly compression: ImageInput["compression"];
  readonly baseline: boolean;
};

const project = resolve(import.meta.dirname, "../..");

try {
  writeImage(readOrder(process.argv.slice(2)));
} catch (error) {
  process.stderr.write(`image: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}

/** Reads the command line. `--baseline` takes the executable for x86-64 processors without AVX2. */
function readOrder(args: string[]): Order {
  const text = { type: "string" } as const;
  const flag = { type: "boolean", default: false } as const;
  const { values } = parseArgs({
    args,
    options: { platform: text, from: text, out: text, tar: flag, zstd: flag, baseline: flag, name: text },
  });
  const platforms = values.platform?.split(",") ?? Object.keys(knownPlatforms);
  const unknown = platforms.filter((each) => !Object.hasOwn(knownPlatforms, each));
  if (unknown.length > 0) throw new Error(`--platform: expected any of ${Object.keys(knownPlatforms)}, got ${unknown}`);
  const from = resolve(values.from ?? join(project, "dist"));
  const out = resolve(values.out ?? join(from, "image"));
  const { name, baseline } = values;
  const compression = values.zstd ? "zstd" : "gzip";
  return { platforms, from, out, archive: values.tar ? `${out}.tar` : undefined, name, compression, baseline };
}

function writeImage(order: Order): void {
  const { platforms, from, out, archive, baseline, compression } = order;
  if (existsSync(out) && !readdirSync(out).includes("oci-layout"))
    throw new Error(`${out}: there is something else than an image`);
  const built = platforms.map((each) => readBuilt(each, from, baseline));
  const [{ sbom }] = built as [Built, ...Built[]];
  const { component, timestamp } = sbom.metadata;
  const name = order.name ?? `localhost/ebb:${component.version}${baseline ? "-baseline" : ""}`;
  const annotations = imageLabels(sbom);
  if (built.some((each) => imageLabels(each.sbom)[revisionLabel] !== annotations[revisionLabel]))
    throw new Error(`the executables in ${from} are of different commits: build all of them again`);
  const epoch = timestamp === undefined ? 0 : Date.parse(timestamp) / 1000;
  const files = ociLayout({ name, images: built, config: ebbConfig, annotations, epoch, compression });
  writeFolder(out, files);
  if (archive !== undefined) {
    const entries = [...files].map(([path, bytes]) => ({ path, mode: 0o644, bytes }));
    writeFileSync(archive, tarOf(entries, epoch));
  }
  const size = [...files.values()].reduce((sum, bytes) => sum + bytes.length, 0);
  for (const path of [out, ...(archive === undefined ? [] : [archive])])
    say(`${name} for ${platforms.join(" and ")}, ${(size / 1e6).toFixed(1)} MB  ${relative(process.cwd(), path)}`);
}

type Built = PlatformImage & { readonly sbom: Sbom };

/** Reads an executable and its bill of materials. @throws Error if one is missing, or the bill is about other bytes */
function readBuilt(name: string, from: string, baseline: boolean): Built {
  const { platform, file } = knownPlatforms[name] as (typeof knownPlatforms)[string];
  const path = join(from, baseline && platform.architecture === "amd64" ? `${file}-baseline` : file);
  const sbomPath = sbomPathOf(path);
  const missing = [path, sbomPath].filter((each) => !existsSync(each));
  if (missing.length > 0) throw new Error(`${missing.join(" and ")}: not there; npm run build -- --all makes it`);
  const bytes = new Uint8Array(readFileSync(path));
  const sbom = JSON.parse(readFileSync(sbomPath, "utf8")) as Sbom;
  if (sbom.metadata.component.hashes[0]?.content !== digestOf(bytes))
    throw new Error(`${sbomPath} is not about ${path}: build it again`);
  return { platform, files: [{ path: "ebb", mode: 0o755, bytes }], sbom };
}

/** Writes the files to a temporary folder, which then replaces the one at `out`. */
function writeFolder(out: string, files: ReadonlyMap<string, Uint8Array>): void {
  const temporary = `${out}.${process.pid}.new`;
  try {
    for (const [path, bytes] of files) {
      mkdirSync(dirname(join(temporary, path)), { recursive: true });
      writeFileSync(join(temporary, path), bytes);
    }
    rmSync(out, { recursive: true, force: true });
    renameSync(temporary, out);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
