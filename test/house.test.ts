import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Glob } from "bun";

const project = resolve(import.meta.dirname, "..");
const MOST_FILES = 20;
/** One file for each package, one for each topic. */
const data = ["build/licenses", "src/manual"];

function foldersIn(folder: string): readonly string[] {
  const inside = readdirSync(join(project, folder), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return [folder, ...inside.flatMap(({ name }) => foldersIn(`${folder}/${name}`))];
}

function countFiles(folder: string): number {
  return readdirSync(join(project, folder), { withFileTypes: true }).filter((entry) => entry.isFile()).length;
}

test(`no folder has more than ${MOST_FILES} files`, () => {
  const folders = ["src", "build", "test"].flatMap(foldersIn).filter((folder) => !data.includes(folder));
  expect(folders.length).toBeGreaterThan(50);
  expect(folders.filter((folder) => countFiles(folder) > MOST_FILES)).toEqual([]);
});

const topics = readdirSync(join(project, "src/manual")).map((file) => `src/manual/${file}`);

test.each(["README.md", "src/README.md", "src/CONTRIBUTING.md", "test/README.md", "build/BUN.md", ...topics])(
  "each path that %s names is there",
  (page) => {
    const text = readFileSync(join(project, page), "utf8");
    const paths = [...text.matchAll(/`((?:src|build|test)\/[^`\s]+)`/g)].map(([, path = ""]) => path);
    const isThere = (path: string) =>
      [...new Glob(path.replace(/\/$/, "")).scanSync({ cwd: project, onlyFiles: false })].length > 0;
    expect(paths.filter((path) => !isThere(path))).toEqual([]);
  },
);
