import { expect, test } from "bun:test";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { differingFiles } from "../../../build/release/files.ts";
import { otherVersions } from "../../../build/release/version.ts";
import { writeSums } from "../../../build/setup/sums.mjs";
import packageJson from "../../../package.json";
import { temporaryFolder } from "../../harness/ebb.ts";

const project = resolve(import.meta.dirname, "../../..");
const { version } = packageJson;

test("two builds differ in a byte, and in a file that one of them lacks", () => {
  using place = temporaryFolder();
  const [one, other] = ["one", "other"].map((name) => join(place.path, name)) as [string, string];
  mkdirSync(join(one, "image"), { recursive: true });
  for (const file of ["ebb", "ebb.cdx.json", "image/layer"]) writeFileSync(join(one, file), `bytes of ${file}`);
  cpSync(one, other, { recursive: true });
  for (const folder of [one, other]) writeSums(folder);
  expect(differingFiles(one, other)).toEqual([]);
  writeFileSync(join(other, "image/layer"), "bytes of image/layeR");
  writeFileSync(join(one, "ebb-webhook.yaml"), "");
  writeFileSync(join(other, "ebb-reaper.yaml"), "");
  for (const folder of [one, other]) writeSums(folder);
  const differing = ["ebb-reaper.yaml", "ebb-webhook.yaml", "image/layer"];
  expect([differingFiles(one, other), differingFiles(other, one)]).toEqual([differing, differing]);
});

test("this tree has one version", () => {
  expect(otherVersions(project, [`v${version}`, "latest"])).toEqual([]);
});

const places = ["package-lock.json", "Dockerfile.distroless", "build/chart/Chart.yaml", "src/CHANGELOG.md"];

test.each(places)("another version in %s is found", (file) => {
  using place = temporaryFolder();
  for (const each of ["package.json", ...places]) {
    mkdirSync(dirname(join(place.path, each)), { recursive: true });
    const text = readFileSync(join(project, each), "utf8");
    const changed =
      file === "src/CHANGELOG.md" ? text.replace(`## ${version}`, "## 7.7.7") : text.replace(version, "7.7.7");
    writeFileSync(join(place.path, each), each === file ? changed : text);
  }
  expect(otherVersions(place.path, [])).toEqual([`${file}: 7.7.7`]);
});

test("a tag of another version is found", () => {
  expect(otherVersions(project, [`v${version}`, "v7.7.7"])).toEqual(["the tag v7.7.7: 7.7.7"]);
});
