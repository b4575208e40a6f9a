// Fetches musl of another architecture. Plain JavaScript, because the bootstrap imports it before anything is installed.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { cacheFolder } from "./cache.mjs";
import { debianNames, triplets } from "./packages.mjs";
import { checkSums, moveIntoPlace, writeSums } from "./sums.mjs";

function unpackedFolder(arch) {
  return join(cacheFolder(), `musl-${arch}`);
}

/**
 * Returns the folder of musl-dev for an architecture ("x64", "arm64"), in which lib/<triplet>/libc.a is, or undefined
 * if it is not installed. @throws Error if the one in the cache is damaged
 */
export function muslFolder(arch) {
  const libc = join("lib", triplets[arch].replace("-gnu", "-musl"), "libc.a");
  if (existsSync(join("/usr", libc))) return "/usr";
  const folder = unpackedFolder(arch);
  if (!existsSync(folder)) return undefined;
  const wrong = checkSums(folder);
  if (wrong !== undefined)
    throw new Error(`${folder} is damaged: ${wrong}; node build/setup.mjs targets fetches it again`);
  return join(folder, "usr");
}

/**
 * Fetches musl-dev for another architecture with apt-get, which checks it, and unpacks it in the cache: if it were
 * installed it would replace files of the host's. That architecture's lists go to a folder of their own, so that dpkg
 * and apt know no more of it than before. Root is not needed. Returns undefined, or why it failed.
 */
export function fetchMusl(arch) {
  const folder = unpackedFolder(arch);
  let temporary;
  try {
    mkdirSync(dirname(folder), { recursive: true });
    temporary = mkdtempSync(`${folder}-`);
    return fetchThrough(temporary, folder, debianNames[arch]);
  } catch (error) {
    return error.message;
  } finally {
    if (temporary !== undefined) rmSync(temporary, { recursive: true, force: true });
  }
}

function fetchThrough(temporary, folder, debian) {
  const settings = [
    `APT::Architectures::=${debian}`,
    `Dir::State::lists=${temporary}/lists`,
    `Dir::Cache=${temporary}/cache`,
    "Acquire::Languages=none",
    "APT::Sandbox::User=root",
  ].flatMap((setting) => ["-o", setting]);
  const unpacked = join(temporary, "musl");
  mkdirSync(join(temporary, "lists", "partial"), { recursive: true });
  mkdirSync(join(temporary, "cache", "archives", "partial"), { recursive: true });
  const reason =
    run(temporary, "apt-get", [...settings, "update"]) ??
    run(temporary, "apt-get", [...settings, "download", `musl-dev:${debian}`]) ??
    run(temporary, "dpkg", ["-x", ...readdirSync(temporary).filter((name) => name.endsWith(".deb")), unpacked]);
  if (reason !== undefined) return reason;
  writeSums(unpacked);
  moveIntoPlace(unpacked, folder);
}

function run(cwd, program, words) {
  const { error, status, stderr } = spawnSync(program, words, { cwd, encoding: "utf8" });
  if (error !== undefined) return `${program}: ${error.message}`;
  return status === 0 ? undefined : `${program} ${words.at(-1)}: ${stderr.trim().split("\n").at(-1)}`;
}
