// Writes and checks the digests of a folder's files. Plain JavaScript, because the bootstrap imports it with Node.js alone.
import { createHash } from "node:crypto";
import {
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join, relative } from "node:path";

const sumsName = "SHA256SUMS";

/** Writes SHA256SUMS into a folder, for `sha256sum -c`: the digests of the named files, by default of all. */
export function writeSums(folder, names = filesIn(folder)) {
  const lines = names.toSorted().map((name) => `${digestOfFile(join(folder, name))}  ${name}\n`);
  writeFileSync(join(folder, sumsName), lines.join(""));
}

/**
 * Compares a folder with its SHA256SUMS. Returns undefined if it has exactly these files, otherwise the first
 * difference.
 */
export function checkSums(folder) {
  const list = join(folder, sumsName);
  if (!existsSync(list)) return `${sumsName} is missing`;
  const lines = readFileSync(list, "utf8").split("\n").filter(Boolean);
  return checkDigests(folder, new Map(lines.map((line) => [line.slice(66), line.slice(0, 64)])));
}

/** Removes a folder's SHA256SUMS. Call it before the files change, so that the list is never that of other files. */
export function removeSums(folder) {
  rmSync(join(folder, sumsName), { force: true });
}

/**
 * Compares a folder with a map from paths to SHA-256 digests in hexadecimal. Returns undefined if it has exactly these
 * files, otherwise the first difference.
 */
export function checkDigests(folder, digests) {
  const present = new Set(filesIn(folder).toSorted());
  for (const [name, digest] of digests) {
    if (!present.delete(name)) return `${name} is missing`;
    const actual = digestOfFile(join(folder, name));
    if (actual !== digest) return `${name}: expected SHA-256 ${digest}, got ${actual}`;
  }
  const [other] = present;
  return other && `${other} is not one of its files`;
}

/** Returns the relative paths of all files but SHA256SUMS, those in subfolders too. */
function filesIn(folder) {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => !entry.isDirectory());
  const names = entries.map(({ parentPath, path, name }) => relative(folder, join(parentPath ?? path, name)));
  return names.filter((name) => name !== sumsName);
}

/** Returns the SHA-256 of a file; of a symbolic link, that of the path that it names. */
function digestOfFile(path) {
  const bytes = lstatSync(path).isSymbolicLink() ? readlinkSync(path) : readFileSync(path);
  return createHash("sha256").update(bytes).digest("hex");
}

/**
 * Moves the folder `made` to the path `folder`. What was there goes as a whole, so that no reader finds a part of it. If
 * another process puts one there at the same time, that one stays.
 */
export function moveIntoPlace(made, folder) {
  const aside = `${made}-old`;
  try {
    if (existsSync(folder)) renameSync(folder, aside);
    renameSync(made, folder);
  } catch (error) {
    if (error.code !== "ENOTEMPTY" && error.code !== "EEXIST") throw error; // another process made the same just now
  } finally {
    rmSync(aside, { recursive: true, force: true });
  }
}
