import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

/** Returns the paths of the files that two folders do not have alike, to the byte; empty if they are the same. */
export function differingFiles(one: string, other: string): readonly string[] {
  const [ones, others] = [new Set(filesIn(one)), new Set(filesIn(other))];
  const isSame = (path: string): boolean =>
    ones.has(path) && others.has(path) && readFileSync(join(one, path)).equals(readFileSync(join(other, path)));
  return [...ones.union(others)].filter((path) => !isSame(path)).toSorted();
}

function filesIn(folder: string): readonly string[] {
  const paths = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return paths.filter((path) => statSync(join(folder, path)).isFile());
}
