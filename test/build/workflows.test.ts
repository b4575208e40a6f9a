import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import packageJson from "../../package.json";

const folder = resolve(import.meta.dirname, "../../.github/workflows");
const names = readdirSync(folder);

test("there are workflows", () => {
  expect(names.toSorted()).toEqual(["ci.yml", "release.yml"]);
});

describe.each(names)("%s", (name) => {
  const text = readFileSync(join(folder, name), "utf8");

  test("takes each action by its commit, with the version in a comment", () => {
    const used = [...text.matchAll(/uses:(.*)/g)].map(([, action = ""]) => action);
    expect(used.length).toBeGreaterThan(0);
    for (const action of used) expect(action).toMatch(/^ [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });

  test("runs tasks that there are", () => {
    const tasks = [...text.matchAll(/npm run ([\w:]+)/g)].map(([, task]) => task);
    expect(Object.keys(packageJson.scripts)).toEqual(expect.arrayContaining(tasks));
  });

  test("has no right but to read, unless a release needs it", () => {
    const rights = [...text.matchAll(/([\w-]+): write/g)].map(([, right]) => right);
    expect(rights).toEqual(name === "release.yml" ? ["contents", "packages", "id-token", "attestations"] : []);
    expect(text).toMatch(/^permissions:( \{\}|\n {2}contents: read)$/m);
  });
});
