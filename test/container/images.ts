import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { sourcePaths } from "../../build/evidence/source.ts";
import { cacheFolder } from "../../build/setup/cache.mjs";
import { aptInstall, containerPackages, debianNames, isInPath, otherArch } from "../../build/setup/packages.mjs";
import { temporaryFolder } from "../harness/ebb.ts";

const project = resolve(import.meta.dirname, "..", "..");
const store = join(cacheFolder(), "containers");
const certificates = "/etc/ssl/certs";

/** The folder of what a restart of the machine may lose. Podman needs a short path. */
export const runFolder = "/run/ebb-containers";

/** The flags of buildah and podman that keep this project's images apart from the machine's own. */
export const storage = ["--root", store, "--runroot", runFolder, "--storage-driver", "overlay"] as const;

/** The images of Dockerfile.distroless that are run. */
export const images = ["localhost/ebb:distroless", "localhost/ebb:scratch"] as const;

/** The image for the architecture that this machine does not have; it is only looked at. */
export const otherImage = "localhost/ebb:scratch-other";

/** The commit that the images are told to be made of. */
export const toldCommit = "0123456789abcdef0123456789abcdef01234567";

/** The builder's base image, which runs TypeScript. */
export const nodeImage = "docker.io/library/node:24-bookworm-slim";

/** Says what this machine lacks for containers; undefined if they can be made. */
export function obstacle(): string | undefined {
  if (process.getuid?.() !== 0) return "root";
  const missing = containerPackages.filter((name) => !isInPath(name));
  if (missing.length > 0) return `what this installs: ${aptInstall(missing).join(" ")}`;
  const namespaces = spawnSync("unshare", ["--mount", "--pid", "--net", "--fork", "true"]);
  if (namespaces.status !== 0) return "leave to make namespaces";
  const { status, stderr } = spawnSync("buildah", [...storage, "info"], { encoding: "utf8" });
  return status === 0 ? undefined : `an image store: ${stderr.trim()}`;
}

/**
 * Builds the images of Dockerfile.distroless, unless they are built from the same files already, because nobody finds
 * images while they get their names anew. Processes do so one at a time; a process that ends, however, gives the lock
 * back.
 * @throws Error if this machine lacks something, or a build fails
 */
export function buildImages(): void {
  const lacking = obstacle();
  if (lacking !== undefined) throw new Error(`containers need ${lacking}`);
  mkdirSync(runFolder, { recursive: true });
  run("flock", [join(runFolder, "images.lock"), process.execPath, import.meta.path]);
}

function buildUnlessBuilt(): void {
  const record = join(runFolder, "images-of");
  const digest = digestOfInputs();
  if (existsSync(record) && readFileSync(record, "utf8") === digest && targets.every(([name]) => isImage(name))) return;
  rmSync(record, { force: true });
  buildAll();
  writeFileSync(record, digest);
}

function isImage(name: string): boolean {
  return spawnSync("buildah", [...storage, "inspect", "--type", "image", `localhost/ebb:${name}`]).status === 0;
}

/** Returns the digest of all that the images are made of. */
function digestOfInputs(): string {
  const hash = createHash("sha256").update(settings());
  for (const input of [...sourcePaths, "Dockerfile.distroless", ".dockerignore", "test/container/base-images.sh"]) {
    const path = join(project, input);
    const files = statSync(path).isDirectory()
      ? readdirSync(path, { recursive: true, encoding: "utf8" }).map((name) => join(path, name))
      : [path];
    for (const file of files.toSorted()) {
      if (statSync(file).isFile()) hash.update(`${file}\0`).update(readFileSync(file)).update("\0");
    }
  }
  return hash.digest("hex");
}

/** Returns this machine's npm settings, for the builder's npm. */
function settings(): string {
  return ["registry", "cafile"].map(npmSetting).join("");
}

/**
 * Builds all images. Layers that have not changed are kept, replaced images are removed. The stages `build` get names,
 * because an unnamed image of which no other is made counts as replaced.
 */
function buildAll(): void {
  if (!existsSync(join(store, "overlay-images", "images.json"))) console.log("making the images, once: two minutes");
  run("bash", [join(import.meta.dirname, "base-images.sh"), store, runFolder]);
  using folder = temporaryFolder();
  const npmrc = join(folder.path, "npmrc");
  writeFileSync(npmrc, settings());
  for (const [name, target] of targets) {
    const mounts = ["-v", `${npmrc}:/usr/local/etc/npmrc:ro`];
    if (existsSync(certificates)) mounts.push("-v", `${certificates}:${certificates}:ro`);
    const file = ["-f", "Dockerfile.distroless", ...told, ...target, "-t", `localhost/ebb:${name}`, "."];
    run("buildah", [...storage, "bud", ...layered, ...mounts, ...file]);
  }
  spawnSync("buildah", [...storage, "rmi", "--prune"]); // tidies up; what another build is using stays
}

const told = ["--build-arg", `EBB_COMMIT=${toldCommit}`];

/**
 * The flags for the other architecture. This version of buildah does not tell a Dockerfile the machine's platform by
 * itself.
 */
const cross = [
  ...["--platform", `linux/${debianNames[otherArch]}`],
  ...["--build-arg", `BUILDPLATFORM=linux/${debianNames[process.arch]}`],
];

const targets = [
  ["build", ["--target", "build"]],
  ["distroless", []],
  ["scratch", ["--target", "scratch"]],
  ["build-other", ["--target", "build", ...cross]],
  ["scratch-other", ["--target", "scratch", ...cross]],
] as const;

/** No image comes from a registry; RUN has the network of this machine, and no container of its own. */
const layered = ["--layers", "--pull-never", "--isolation", "chroot", "--network", "host"];

/** Returns a setting of this machine's npm as a line for the builder's npm, so that it reaches the same registry. */
function npmSetting(name: string): string {
  const value = run("npm", ["config", "get", name]).trim();
  return ["", "null", "undefined"].includes(value) ? "" : `${name}=${value}\n`;
}

function run(command: string, args: readonly string[]): string {
  const { error, status, stdout, stderr } = spawnSync(command, args, {
    cwd: project,
    encoding: "utf8",
    maxBuffer: 2 ** 26,
  });
  if (error !== undefined) throw error;
  if (status === 0) return stdout;
  const last = `${stdout}${stderr}`.trim().split("\n").slice(-30).join("\n");
  throw new Error(`${command} ${args.join(" ")}: exit code ${status}\n${last}`);
}

if (import.meta.main) buildUnlessBuilt();
