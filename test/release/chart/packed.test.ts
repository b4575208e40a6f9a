import { afterAll, expect, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parse, stringify } from "yaml";
import { version } from "../../../package.json";
import { type Any, objectsOf } from "../../binary/cluster/printed-manifests.ts";
import { runTool } from "../../cluster/rig/daemon.ts";
import { ebb, temporaryFolder } from "../../harness/ebb.ts";
import { compiledProgram } from "../../sidecars/compile.ts";

const project = resolve(import.meta.dirname, "../../..");
const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());
await runTool(process.execPath, join(project, "build/release/chart.ts"), "--out", folder.path);
await runTool("tar", "-xzf", join(folder.path, `ebb-${version}-kustomize.tgz`), "-C", folder.path);
const bases = join(folder.path, "ebb");

test.each(["webhook", "reaper"])(
  "kustomize builds of the base of the %s what ebb manifests prints",
  async (component) => {
    const { stdout } = await ebb(["manifests", "--image", `registry.example.com/ebb:${version}`, component]);
    expect(await built(join(bases, component))).toEqual(sorted(objectsOf(stdout)));
  },
);

const page = readFileSync(join(project, "src/manual/webhook.md"), "utf8");
const [, overlay = ""] = /```yaml\n(resources: [^`]*)```/.exec(page) ?? [];

test("the manual's overlay changes the image of both components, and of the pods that get ebb", async () => {
  const [, unpack = ""] = /^ {4}(tar .*)$/m.exec(page) ?? [];
  using place = temporaryFolder();
  await runTool("sh", "-c", `cd "$0" && cp "$1"/*.tgz . && ${unpack}`, place.path, folder.path);
  writeFileSync(join(place.path, "kustomization.yaml"), overlay);
  await expectOwnImage(place.path, 2);
});

test.each([
  ["webhook", 0],
  ["reaper", 1],
])("without the other component, it has that of the %s alone", async (component, at) => {
  const { resources, replacements, ...rest } = parse(overlay);
  const place = join(folder.path, `of-${component}`);
  mkdirSync(place);
  const own = { ...rest, resources: [`../${resources[at]}`], replacements: [replacements[at]] };
  expect(own.resources).toEqual([`../ebb/${component}`]);
  writeFileSync(join(place, "kustomization.yaml"), stringify(own));
  await expectOwnImage(place, 1);
});

async function expectOwnImage(place: string, count: number): Promise<void> {
  const deployments = (await built(place)).filter(({ kind }) => kind === "Deployment");
  expect(deployments).toHaveLength(count);
  for (const { spec } of deployments) {
    const [container] = spec.template.spec.containers;
    expect(container.image).toBe("registry.internal/ebb:0.1.0");
    expect(container.args).toContain("--image=registry.internal/ebb:0.1.0");
  }
}

test.each(["helm", "helm-4"] as const)("%s reads the chart's archive", async (name) => {
  const archive = join(folder.path, `ebb-${version}.tgz`);
  const chart = parse(await runTool(compiledProgram(name).path, "show", "chart", archive));
  expect(chart).toMatchObject({ name: "ebb", version, appVersion: version, apiVersion: "v2" });
});

async function built(path: string): Promise<readonly Any[]> {
  return sorted(objectsOf(await runTool(compiledProgram("kustomize").path, "build", path)));
}

/** Kustomize has an order of its own. */
function sorted(objects: readonly Any[]): readonly Any[] {
  return objects.toSorted((a, b) => nameOf(a).localeCompare(nameOf(b)));
}

function nameOf({ kind, metadata }: Any): string {
  return `${kind} ${metadata.namespace} ${metadata.name}`;
}
