import { expect, test } from "bun:test";
import { readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { Glob } from "bun";
import { manualPaths } from "../../build/pages.ts";

const project = resolve(import.meta.dirname, "../..");

/** The words of a page's code: of its blocks, and between backticks. */
function wordsOf(page: string): readonly string[] {
  const text = readFileSync(join(project, page), "utf8");
  return [...text.matchAll(/```[\s\S]*?```|`[^`]+`/g)].flatMap(([code]) => code.split(/[\s`,;:()]+/));
}

/** Finds a file or folder by its path in the project, in which `*` and `NAME` stand for any name. */
function find(path: string): string | undefined {
  const glob = new Glob(path.replace(/\/$/, "").replace("NAME", "*"));
  return [...glob.scanSync({ cwd: project, onlyFiles: false, dot: true })][0];
}

const isPath = (word: string) => /^(src|build|test)\/./.test(word);

test.each(["README.md", "build/BUN.md", "test/EVIDENCE.md", ...manualPaths()])(
  "each path that %s names is there",
  (page) => {
    expect(wordsOf(page).filter((word) => isPath(word) && find(word) === undefined)).toEqual([]);
  },
);

/** Returns a folder and those around it, up to the project's. */
const around = (folder: string): readonly string[] => (folder === "." ? ["."] : [folder, ...around(dirname(folder))]);

test.each(["src/README.md", ".github/CONTRIBUTING.md", "test/README.md"])(
  "each file and folder that %s names is in the folder that was named last, or in one around it",
  (page) => {
    let here = dirname(page);
    const missing: string[] = [];
    for (const word of wordsOf(page)) {
      if (!isPath(word) && !/^[\w.*/-]+(\.(ts|mjs|c|json|yaml|md|txt)|\w\/)$/.test(word)) continue;
      const folder = [...around(here), dirname(page)].find((each) => find(join(each, word)) !== undefined);
      if (folder === undefined) missing.push(`${word} (after ${here})`);
      else if (!word.endsWith(".md")) {
        const found = find(join(folder, word)) as string;
        here = statSync(join(project, found)).isDirectory() ? found : dirname(found);
      }
    }
    expect(missing).toEqual([]);
  },
);
