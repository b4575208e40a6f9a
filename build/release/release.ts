import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import packageJson from "../../package.json";
import { sbomPathOf } from "../evidence/sbom.ts";
import { run } from "../run.ts";
import { platformOf, releaseTargets } from "../targets.ts";
import { completeRelease, differingFiles, files, imageIn } from "./files.ts";
import { otherVersions } from "./version.ts";

// bun build/release/release.ts [--name REGISTRY/NAME] [--url URL] makes dist/release, all that is published of a commit.

const project = resolve(import.meta.dirname, "../..");
const { version } = packageJson;

try {
  const { values } = parseArgs({
    options: { name: { type: "string", default: "localhost/ebb" }, url: { type: "string" } },
  });
  release({ image: `${values.name}:${version}`, url: values.url });
} catch (error) {
  process.stderr.write(`release: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}

/** Under which names a release is published. */
interface Names {
  readonly image: string;
  /** The folder from which its files are to be downloaded, for krew. */
  readonly url: string | undefined;
}

/** Builds the commit in two folders, and keeps the files of one of them if those of the other are the same. */
function release(names: Names): void {
  checkTree();
  const place = mkdtempSync(join(tmpdir(), "ebb-release-"));
  try {
    const made = makeIn(join(place, "one"), names);
    const again = makeIn(join(place, "another", "folder"), names);
    const differing = differingFiles(made, again);
    if (differing.length > 0) throw new Error(`two builds of this commit differ: ${differing.join(", ")}`);
    keep(made, join(project, "dist", "release"));
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

/** @throws Error if a file is not committed, or a version is not that of package.json */
function checkTree(): void {
  const changed = git("status", "--porcelain");
  if (changed !== "") throw new Error(`commit these first:\n${changed}`);
  const others = otherVersions(project, git("tag", "--points-at", "HEAD").split("\n"));
  if (others.length > 0) throw new Error(`package.json has the version ${version}, but:\n${others.join("\n")}`);
}

function git(...words: readonly string[]): string {
  return run(["git", "-C", project, ...words]);
}

/** Clones this commit to `tree`, builds it there, and returns the folder of what is published of it. */
function makeIn(tree: string, { image, url }: Names): string {
  git("clone", "--quiet", "--no-tags", project, tree);
  const { EBB_COMMIT: _, SOURCE_DATE_EPOCH: __, ...env } = process.env; // git tells both
  const runThere = (...words: string[]) => run(words, { cwd: tree, env, isShown: true });
  runThere("node", "build/task.mjs", "image", "--tar", "--name", image);
  if (url !== undefined) runThere(process.execPath, "build/krew/krew.ts", "--url", url);
  runThere("node", "build/task.mjs", "chart", "--repository", image.slice(0, -`:${version}`.length));
  return gather(join(tree, "dist"));
}

/** Puts all that is published into a folder of its own in `dist`, and returns that. */
function gather(dist: string): string {
  const folder = join(dist, "release");
  mkdirSync(folder);
  const take = (path: string, name = basename(path)): void => renameSync(path, join(folder, name));
  for (const path of releaseTargets.map((target) => join(dist, `ebb-${platformOf(target)}`)))
    for (const each of [path, sbomPathOf(path)]) take(each);
  take(join(dist, "image.tar"), files.image);
  const krew = join(dist, "krew");
  if (existsSync(krew)) for (const name of readdirSync(krew)) take(join(krew, name));
  for (const file of [files.chart, files.kustomize]) take(join(dist, file));
  completeRelease(folder, join(folder, `ebb-linux-${process.arch}`));
  return folder;
}

/** Replaces `folder` by a copy of `made`, whole. */
function keep(made: string, folder: string): void {
  const temporary = `${folder}.${process.pid}.new`;
  try {
    cpSync(made, temporary, { recursive: true });
    rmSync(folder, { recursive: true, force: true });
    renameSync(temporary, folder);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
  const { name, digest } = imageIn(folder);
  process.stdout.write(`two builds are the same: dist/release, ${name}@${digest}\n`);
}
