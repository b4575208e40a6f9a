import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { digestOf } from "../../build/evidence/sums.ts";
import { runInEmptyRoot } from "../../build/image/empty-root.ts";
import { knownPlatforms } from "../../build/image/oci.ts";
import { files, imageIn } from "../../build/release/files.ts";
import { platformOf, releaseTargets, targetNamed } from "../../build/targets.ts";
import packageJson from "../../package.json";
import { startPublisher } from "./publisher.ts";

// A real release: what `npm run release` makes of this tree, pushed by `npm run release:push`.

setDefaultTimeout(600_000);

const project = resolve(import.meta.dirname, "../..");
const { version } = packageJson;
const publisher = await startPublisher();
const { path, name, mustRun, push } = publisher;
afterAll(() => publisher[Symbol.asyncDispose]());

const tree = join(path, "tree");
const released = join(tree, "dist/release");

/** Makes a release of this tree with what is not committed, in a clone that has committed it. */
beforeAll(async () => {
  await mustRun(`git clone --quiet ${project} ${tree}`);
  await mustRun(`git --git-dir ${tree}/.git --work-tree ${project} add --all`);
  const author = "-c user.name=test -c user.email=test@localhost";
  await mustRun(`git ${author} commit --quiet --allow-empty --message test && git reset --quiet --hard`, tree);
  await mustRun(`npm run release -- --name ${name} --url https://downloads.example.com/v${version}`, tree);
  await push(released);
});

test("SHA256SUMS has all files but itself and its signature", async () => {
  const checked = await mustRun("sha256sum --check --strict SHA256SUMS", released);
  const listed = checked.trim().replaceAll(": OK", "").split("\n");
  const present = (await mustRun("ls", released)).trim().split("\n");
  expect(present.toSorted()).toEqual([...listed, files.sums, files.signature].toSorted());
  const built = releaseTargets.flatMap((target) =>
    ["", ".cdx.json"].map((ending) => `ebb-${platformOf(target)}${ending}`),
  );
  const others = [files.image, "CHANGES.md", "LICENSES.txt", "ebb-webhook.yaml", "ebb-reaper.yaml"];
  const monitoring = ["ebb-alerts.yaml", "ebb-dashboard.json"];
  const platforms = ["linux", "darwin"].flatMap((os) => ["amd64", "arm64"].map((arch) => `${os}-${arch}`));
  const krew = ["ebb.yaml", ...platforms.map((platform) => `kubectl-ebb-v${version}-${platform}.tar.gz`)];
  expect(listed.toSorted()).toEqual(
    [...built, ...others, ...monitoring, ...krew, files.chart, files.kustomize].toSorted(),
  );
});

test("the image in the registry is for these platforms, and has the executables of SHA256SUMS as /ebb", async () => {
  const index = await inspect("--raw");
  const platforms = Object.values(knownPlatforms);
  expect(index.manifests.map((each: { platform: object }) => each.platform)).toEqual(
    platforms.map(({ platform }) => platform),
  );
  const sums = readFileSync(join(released, files.sums), "utf8");
  for (const { platform, file } of platforms) {
    const executable = await pullExecutable(platform.architecture);
    expect(sums).toContain(`${digestOf(readFileSync(executable))}  ${file}\n`);
    const config = await inspect(`--config --override-arch ${platform.architecture}`);
    expect(config).toMatchObject({ ...platform, config: { User: "65532:65532", Entrypoint: ["/ebb"] } });
  }
});

test("all of it has the version of package.json", async () => {
  const labels = (await inspect("--config")).config.Labels;
  expect(labels["org.opencontainers.image.version"]).toBe(version);
  const { annotations } = await inspect("--raw");
  expect(annotations).toEqual(labels);
  const target = targetNamed(process.arch);
  const executable = await pullExecutable(target.arch === "x64" ? "amd64" : target.arch);
  expect(runInEmptyRoot(executable, ["--version"], target).stdout).toBe(`ebb ${version}\n`);
  const { commit, dirty } = JSON.parse(runInEmptyRoot(executable, ["--version", "--json"], target).stdout);
  expect([commit, dirty]).toEqual([labels["org.opencontainers.image.revision"], false]);
  for (const component of ["webhook", "reaper"]) {
    const manifest = readFileSync(join(released, `ebb-${component}.yaml`), "utf8");
    const images = [...manifest.matchAll(/ image: (.*)/g)].map(([, image]) => image);
    expect(images).toEqual([`${name}:${version}@${imageIn(released).digest}`]);
  }
  expect(readFileSync(join(released, "CHANGES.md"), "utf8")).toStartWith(`## ${version}`);
  const chart = await mustRun(`tar -xOzf ${files.chart} ebb/Chart.yaml`, released);
  expect(Bun.YAML.parse(chart)).toMatchObject({ version, appVersion: version });
});

test("a tree with a file that is not committed makes no release, nor one of a tag of another version", async () => {
  const release = "npm run release";
  await mustRun("git -c user.name=test -c user.email=test@localhost tag v7.7.7", tree);
  expect((await publisher.run(release, tree)).stderr).toContain("the tag v7.7.7: 7.7.7");
  await mustRun("touch new", tree);
  expect((await publisher.run(release, tree)).stderr).toContain("commit these first:\n?? new");
});

// biome-ignore lint/suspicious/noExplicitAny: manifests and configurations, written loosely
async function inspect(words: string): Promise<any> {
  return JSON.parse(await mustRun(`skopeo inspect ${words} docker://${name}:${version}`));
}

/** Pulls the image of an architecture, and returns the path of its only file. */
async function pullExecutable(architecture: string): Promise<string> {
  const folder = join(path, architecture);
  mkdirSync(folder, { recursive: true });
  const copy = `skopeo --insecure-policy --override-arch ${architecture} copy docker://${name}:${version} dir:pulled`;
  await mustRun(`rm -rf pulled ebb && ${copy}`, folder);
  const { layers } = JSON.parse(readFileSync(join(folder, "pulled/manifest.json"), "utf8"));
  expect(layers).toHaveLength(1);
  await mustRun(`tar -xzf pulled/${layers[0].digest.replace("sha256:", "")}`, folder);
  return join(folder, "ebb");
}
