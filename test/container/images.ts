import { spawnSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { cacheFolder } from "../../build/setup/cache.mjs";
import { aptInstall, containerPackages, debianNames, isInPath, otherArch } from "../../build/setup/packages.mjs";
import { temporaryFolder } from "../harness.ts";

const project = resolve(import.meta.dirname, "..", "..");
const store = join(cacheFolder(), "containers");
const certificates = "/etc/ssl/certs";

/** What a restart of the machine may lose. Podman wants a short path. */
export const runFolder = "/run/ebb-containers";

/** Flags of buildah and podman: the images of this project are apart from the machine's own. */
export const storage = ["--root", store, "--runroot", runFolder, "--storage-driver", "overlay"] as const;

/** The targets of Dockerfile.distroless that are to be run, as images. */
export const images = ["localhost/ebb:distroless", "localhost/ebb:scratch"] as const;

/** The same of the architecture that this machine is not of; to be looked at. */
export const otherImage = "localhost/ebb:scratch-other";

/** What the images are told of the commit that they are made of. */
export const toldCommit = "0123456789abcdef0123456789abcdef01234567";

/** Runs TypeScript: the builder's base image. */
export const nodeImage = "docker.io/library/node:24-bookworm-slim";

/** What containers need that is not here; undefined where they can be made. */
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
 * Builds Dockerfile.distroless. What has not changed since the last time is kept; what it has replaced goes. The stages
 * `build` get names, since unnamed images without one that is made of them count as replaced.
 */
export function buildImages(): void {
  const lacking = obstacle();
  if (lacking !== undefined) throw new Error(`containers need ${lacking}`);
  if (!existsSync(join(store, "overlay-images", "images.json"))) console.log("making the images, once: two minutes");
  run("bash", [join(import.meta.dirname, "base-images.sh"), store, runFolder]);
  using folder = temporaryFolder();
  const settings = join(folder.path, "npmrc");
  writeFileSync(settings, ["registry", "cafile"].map(npmSetting).join(""));
  for (const [name, target] of targets) {
    const mounts = ["-v", `${settings}:/usr/local/etc/npmrc:ro`];
    if (existsSync(certificates)) mounts.push("-v", `${certificates}:${certificates}:ro`);
    const file = ["-f", "Dockerfile.distroless", ...told, ...target, "-t", `localhost/ebb:${name}`, "."];
    run("buildah", [...storage, "bud", ...layered, ...mounts, ...file]);
  }
  spawnSync("buildah", [...storage, "rmi", "--prune"]); // tidies up; what another build is using stays
}

const told = ["--build-arg", `EBB_COMMIT=${toldCommit}`];

/** This version of buildah does not tell a Dockerfile the platform of the machine by itself. */
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

/** A setting of this machine's npm as a line for the builder's, so that it reaches the same registry. */
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
