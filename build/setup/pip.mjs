// Installs wheels of PyPI: programs that Debian lacks. Plain JavaScript, because the bootstrap imports it before anything
// is installed.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { cacheFolder } from "./cache.mjs";
import { checkDigests, moveIntoPlace } from "./sums.mjs";

/** Reports whether `python3 -m pip` runs. */
export function hasPip() {
  return spawnSync("python3", ["-m", "pip", "--version"]).status === 0;
}

/** The folders that this process has checked. */
const checked = new Set();

/**
 * Returns the path of the executable of an installed wheel, or undefined if this version is not installed. Each process
 * once compares all its files with the wheel, and the wheel with its digest. @throws Error if one of them differs
 */
export function wheelPath(wheel) {
  const folder = wheelFolder(wheel);
  if (!existsSync(folder)) return undefined;
  const wrong = checked.has(folder) ? undefined : whyDamaged(folder, wheel.digests);
  if (wrong !== undefined)
    throw new Error(`${folder} is damaged: ${wrong}; node build/setup.mjs ${wheel.setUpBy} fetches it again`);
  checked.add(folder);
  return join(folder, unpackedName, wheel.executable);
}

function wheelFolder({ name, version }) {
  return join(cacheFolder(), "wheels", `${name}-${version}`);
}

const unpackedName = "unpacked";

/** Says in what an installed wheel differs from its digests; undefined if in nothing. */
function whyDamaged(folder, digests) {
  const archive = readdirSync(folder).find((file) => file.endsWith(".whl"));
  if (archive === undefined) return "its wheel is missing";
  const digest = createHash("sha256")
    .update(readFileSync(join(folder, archive)))
    .digest("hex");
  if (!digests.includes(digest)) return `${archive}: expected SHA-256 ${digests.join(" or ")}, got ${digest}`;
  if (!existsSync(join(folder, unpackedName))) return `${unpackedName} is missing`;
  return checkDigests(join(folder, unpackedName), recordedIn(join(folder, archive)));
}

/** Reads the list in a wheel of the SHA-256 of each file, which does not list itself. */
function recordedIn(archive) {
  const list = python(
    "print([z.read(n).decode() for n in z.namelist() if n.endswith('.dist-info/RECORD')][0])",
    archive,
  );
  const rows = list.split("\n").map((line) => /^(.*),sha256=([\w-]+),\d+\r?$/.exec(line));
  return new Map(
    rows.filter(Boolean).map(([, name, digest]) => [name, Buffer.from(digest, "base64url").toString("hex")]),
  );
}

/** Python that unpacks a wheel with the modes of its files, which `python3 -m zipfile` drops. */
const unpacking = `
for i in z.infolist():
  if not i.is_dir() and not i.filename.endswith('.dist-info/RECORD'): os.chmod(z.extract(i, sys.argv[2]), i.external_attr >> 16 & 0o777 or 0o644)`;

/** Runs a few lines of Python, in which `z` is the wheel, and returns what they print. @throws Error if they fail */
function python(lines, archive, ...words) {
  const program = `import os, sys, zipfile\nz = zipfile.ZipFile(sys.argv[1])\n${lines}`;
  const given = ["-I", "-c", program, archive, ...words];
  const { error, status, stdout, stderr } = spawnSync("python3", given, { encoding: "utf8", maxBuffer: 2 ** 28 });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`python3: ${stderr.trim().split("\n").at(-1)}`);
  return stdout;
}

/** Installs a wheel with pip, as a whole or not at all. Returns undefined, or why it failed. */
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
  const reason = pipDownload(requirements, target);
  if (reason !== undefined) return reason;
  const [archive] = readdirSync(target);
  python(unpacking, join(target, archive), join(target, unpackedName));
  const wrong = whyDamaged(target, digests);
  if (wrong !== undefined) return wrong;
  const { status } = spawnSync(join(target, unpackedName, executable), [versionWord]);
  if (status !== 0) return "its executable does not run on this machine";
  moveIntoPlace(target, folder);
}

function pipDownload(requirements, target) {
  const quietly = ["--quiet", "--no-input", "--disable-pip-version-check", "--retries", "1", "--timeout", "20"];
  const exactly = ["--no-deps", "--only-binary", ":all:", "--require-hashes", "--dest", target];
  const pip = ["-m", "pip", "download", ...quietly, ...exactly, "--requirement", requirements];
  const { error, status, stderr } = spawnSync("python3", pip, { encoding: "utf8" });
  if (error !== undefined) return error.message;
  return status === 0 ? undefined : reasonIn(stderr);
}

/** Says in some words why pip failed. pip says only beside its error that it reached no registry. */
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
