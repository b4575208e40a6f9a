// The digests of a folder's files. Plain JavaScript, because the bootstrap imports it with Node.js alone.
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

/** Lists the files of a folder, as `sha256sum -c SHA256SUMS` reads it there. */
export function writeSums(folder, names = filesIn(folder)) {
  const lines = names.toSorted().map((name) => `${digestOfFile(join(folder, name))}  ${name}\n`);
  writeFileSync(join(folder, sumsName), lines.join(""));
}

/** Why the files of a folder are not those that its list names; undefined: they are, and there are no others. */
export function checkSums(folder) {
  const list = join(folder, sumsName);
  if (!existsSync(list)) return `${sumsName} is missing`;
  const lines = readFileSync(list, "utf8").split("\n").filter(Boolean);
  return whyOther(folder, new Map(lines.map((line) => [line.slice(66), line.slice(0, 64)])));
}

/** Before the files change: what is there is never that of other files. */
export function removeSums(folder) {
  rmSync(join(folder, sumsName), { force: true });
}

/** Why the files of a folder are not those of a map from paths to digests. */
export function whyOther(folder, digests) {
  const present = new Set(filesIn(folder).toSorted());
  for (const [name, digest] of digests) {
    if (!present.delete(name)) return `${name} is missing`;
    const actual = digestOfFile(join(folder, name));
    if (actual !== digest) return `${name}: expected SHA-256 ${digest}, got ${actual}`;
  }
  const [other] = present;
  return other && `${other} is not one of its files`;
}

/** The paths of all files but the list. */
function filesIn(folder) {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => !entry.isDirectory());
  const names = entries.map(({ parentPath, path, name }) => relative(folder, join(parentPath ?? path, name)));
  return names.filter((name) => name !== sumsName);
}

/** Of a symbolic link: of the path that it names. */
function digestOfFile(path) {
  const bytes = lstatSync(path).isSymbolicLink() ? readlinkSync(path) : readFileSync(path);
  return createHash("sha256").update(bytes).digest("hex");
}

/** Gives a folder its place. What is there goes as a whole: nobody finds a part of it. */
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
