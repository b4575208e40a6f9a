import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Glob } from "bun";
import { manualPaths } from "../../build/pages.ts";

const project = resolve(import.meta.dirname, "../..");

test.each([
  "README.md",
  "src/README.md",
  ".github/CONTRIBUTING.md",
  "test/README.md",
  "build/BUN.md",
  ...manualPaths(),
])("each path that %s names is there", (page) => {
  const text = readFileSync(join(project, page), "utf8");
  const paths = [...text.matchAll(/`((?:src|build|test)\/[^`\s]+)`/g)].map(([, path = ""]) => path);
  const isThere = (path: string) =>
    [...new Glob(path.replace(/\/$/, "")).scanSync({ cwd: project, onlyFiles: false })].length > 0;
  expect(paths.filter((path) => !isThere(path))).toEqual([]);
});
