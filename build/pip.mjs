// What PyPI has as wheels and Debian does not. Plain JavaScript, because the bootstrap imports it before anything is installed.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { cacheFolder } from "./cache.mjs";

/** Whether `python3 -m pip` is there to install it. */
export function hasPip() {
  return spawnSync("python3", ["-m", "pip", "--version"]).status === 0;
}

/** The path of an executable of this version of a package; undefined where it is not installed. */
export function wheelPath({ name, version, executable }) {
  const path = join(wheelFolder({ name, version }), executable);
  return existsSync(path) ? path : undefined;
}

function wheelFolder({ name, version }) {
  return join(cacheFolder(), `${name}-${version}`);
}

/** Installs it with pip, as a whole or not at all. Returns undefined, or why it cannot be had. */
export function installWheel(wheel) {
  const folder = wheelFolder(wheel);
  let temporary;
  try {
    mkdirSync(dirname(folder), { recursive: true });
    temporary = mkdtempSync(`${folder}-`);
    return installThrough(temporary, folder, wheel);
  } catch (error) {
    return error.message;
  } finally {
    if (temporary !== undefined) rmSync(temporary, { recursive: true, force: true });
  }
}

function installThrough(temporary, folder, { package: project, version, digests, executable, versionWord }) {
  const [requirements, target] = [join(temporary, "requirements.txt"), join(temporary, "installed")];
  const hashes = digests.map((digest) => `--hash=sha256:${digest}`);
  writeFileSync(requirements, `${[`${project}==${version}`, ...hashes].join(" ")}\n`);
  const reason = pipInstall(requirements, target);
  if (reason !== undefined) return reason;
  const { status } = spawnSync(join(target, executable), [versionWord]);
  if (status !== 0) return "its executable does not run on this machine";
  rmSync(folder, { recursive: true, force: true });
  renameSync(target, folder);
}

function pipInstall(requirements, target) {
  const quietly = ["--quiet", "--no-input", "--disable-pip-version-check", "--retries", "1", "--timeout", "20"];
  const exactly = ["--no-deps", "--only-binary", ":all:", "--require-hashes", "--no-compile", "--target", target];
  const pip = ["-m", "pip", "install", ...quietly, ...exactly, "--requirement", requirements];
  const { error, status, stderr } = spawnSync("python3", pip, { encoding: "utf8" });
  if (error !== undefined) return error.message;
  return status === 0 ? undefined : reasonIn(stderr);
}

/** Why pip failed, in some words; it says that it reached nobody only beside its error. */
function reasonIn(stderr) {
  if (/connection broken|timed out/i.test(stderr)) return "the package index is not reached";
  const errors = stderr.split("\n").filter((line) => line.startsWith("ERROR:"));
  return (
    errors
      .at(-1)
      ?.replace(/^ERROR: */, "pip: ")
      .split(". ")[0] ?? "pip failed"
  );
}
