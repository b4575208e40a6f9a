import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { digestOf } from "../../../build/evidence/sums.ts";
import { version } from "../../../package.json";
import { temporaryFolder } from "../../harness/ebb.ts";

const script = resolve(import.meta.dirname, "../../../build/release/chart.ts");

test("npm run chart writes the same bytes each time, with the image's name that it is given", () => {
  const digests = [1, 2].map(() => {
    using folder = temporaryFolder();
    const words = [script, "--out", folder.path, "--repository", "registry.test/ebb"];
    const env = { ...process.env, SOURCE_DATE_EPOCH: "1700000000" };
    const { status, stderr } = spawnSync(process.execPath, words, { env, encoding: "utf8" });
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    const files = readdirSync(folder.path, { recursive: true, withFileTypes: true }).filter((each) => each.isFile());
    const paths = files.map(({ parentPath, name }) => join(parentPath, name)).sort();
    const archive = join(folder.path, `ebb-${version}.tgz`);
    const listed = spawnSync("tar", ["tzf", archive], { encoding: "utf8" }).stdout.trim().split("\n");
    const inFolder = paths.flatMap((path) => (path.includes("/chart/") ? path.split("/chart/")[1] : []));
    expect(listed.toSorted()).toEqual(inFolder.toSorted() as string[]);
    for (const file of ["chart/ebb/values.yaml", "kustomize/webhook/webhook.yaml"]) {
      expect(readFileSync(join(folder.path, file), "utf8")).toContain("registry.test/ebb");
    }
    return paths.map((path) => `${path.slice(folder.path.length)} ${digestOf(readFileSync(path))}`);
  });
  expect(digests[0]).toEqual(digests[1] as string[]);
});

test.each(["webhook", "reaper", "tests/webhook"])("a pod of templates/%s.yaml names no user", (name) => {
  const text = readFileSync(resolve(import.meta.dirname, `../../../build/chart/templates/${name}.yaml`), "utf8");
  expect(text).toContain("runAsNonRoot: true");
  expect(text?.match(/runAs(User|Group)/)).toBeNull(); // OpenShift refuses any but the namespace's own
});
