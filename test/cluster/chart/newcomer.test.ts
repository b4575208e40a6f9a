import { expect, test } from "bun:test";
import { symlink } from "node:fs/promises";
import { join, resolve } from "node:path";
import packageJson from "../../../package.json";
import { ebb } from "../../harness/ebb.ts";
import { compiledProgram } from "../../sidecars/compile.ts";
import { images, namespace } from "../cluster.ts";
import { envoySidecar } from "../envoy.ts";
import { kubectl } from "../kubectl.ts";
import { deploymentOf, jobOf, type KubeObject } from "../objects.ts";
import { blocksIn, fill } from "../readme/blocks.ts";
import { startShell } from "../readme/shell.ts";
import { runTool } from "../rig/daemon.ts";
import { imageValues, nameService, objectsOf, release } from "./release.ts";

// The commands of the manual's page `webhook`, as they stand there, but for images and the name of the reader's namespace.

const blocks = blocksIn("src/manual/webhook.md").map(({ text }) => text.replaceAll("0.1.0", packageJson.version));
const commands = blocks.find((text) => text.startsWith("helm install")) ?? "";
const [install = "", label = "", restart = "", check = "", doctor = ""] = commands.trim().split(/(?<!\\)\n/);
const upgrade = blocks.find((text) => text.startsWith("helm upgrade")) ?? "";

const { configMap, volume, container: envoy } = envoySidecar({ upstreamPort: 8081 });
const beside = (...command: readonly string[]) => ({
  containers: [{ name: "app", image: images.app, command }, envoy],
  volumes: [volume],
});

/** A Job that would never end: Envoy outlives its app. */
function stuckJob(name: string, annotations: Readonly<Record<string, string>> = {}): KubeObject {
  const job = jobOf(name, beside("/child", "exit", "0"));
  const { template } = job.spec as { readonly template: { readonly metadata: object } };
  Object.assign(template.metadata, { annotations });
  return job;
}

test("from nothing to a namespace whose Jobs end, by ebb in the pod or by the reaper, and whose pods drain", async () => {
  await using shop = await namespace();
  await shop.apply([configMap, deploymentOf("web", beside("/child", "record"))]);
  await using shell = await startShell(shop.name);
  await symlink(compiledProgram("helm").path, join(shell.folder, "helm"));
  await runTool(
    process.execPath,
    resolve(import.meta.dirname, "../../../build/release/chart.ts"),
    "--out",
    shell.folder,
  );
  const run = (line: string, own: Readonly<Record<string, string>> = {}) =>
    shell.run(`export HOME="$PWD"\n${fill(line, own)}`);

  const start = performance.now();
  const { repository, tag } = imageValues(images.ebb);
  await using _ = {
    async [Symbol.asyncDispose]() {
      await shell.tryRun("helm uninstall ebb --namespace ebb --ignore-not-found");
      await kubectl(["delete", "namespace", "ebb", "--ignore-not-found"]);
    },
  };
  const { stdout } = await run(install, { "registry.example.com/ebb": `${repository},image.tag=${tag}` });
  expect(stdout).toContain("Pods that run already get it after:");
  await run(label, { shop: shop.name });
  await shop.apply([stuckJob("injected"), stuckJob("reaped", { "ebb.dev/inject": "false" })]);
  await run(restart, { shop: shop.name });
  await shop.kubectl("wait", "--for=condition=complete", "job", "--all", "--timeout=4m");
  await shop.kubectl("rollout", "status", "deployment/web", "--timeout=4m");
  const seconds = (performance.now() - start) / 1000;

  const isInjected = (await shop.pods("batch.kubernetes.io/job-name")).map(({ metadata, spec }) => [
    metadata.labels?.["batch.kubernetes.io/job-name"],
    spec.initContainers !== undefined,
  ]);
  expect(Object.fromEntries(isInjected)).toEqual({ injected: true, reaped: false });
  expect(await shop.kubectl("get", "events")).toMatch(/ebb-reaper|port-forward/);
  await shop.until("the old pod of the Deployment is gone", async () => (await shop.pods("app=web")).length === 1);
  const [web] = await shop.pods("app=web");
  const sidecar = web?.spec.containers.find(({ name }) => name === "envoy");
  expect(sidecar?.lifecycle).toMatchObject({ preStop: { exec: { command: expect.arrayContaining(["hold"]) } } });

  await nameService(join(shell.folder, "chart/ebb"), "ebb", "ebb"); // there is no DNS here
  await run(upgrade, { "ebb-0.2.0.tgz": "./chart/ebb" });
  await run(check);
  const { stdout: found } = await shell.tryRun(doctor);
  expect(found).toContain("webhook ebb/ebb-webhook: 2 of 2 replicas ready");
  expect(found).toContain("reaper ebb/ebb-reaper: 1 of 1 replicas ready");
  expect(found.split("\n").filter((line) => line.includes(shop.name))).toEqual([]);

  expect((await objectsOf("ebb")).length).toBeGreaterThan(20);
  await run("helm uninstall ebb --namespace ebb --wait");
  await shop.until("nothing is left of it", async () => (await objectsOf("ebb")).length === 0);
  console.log(`from nothing to Jobs that have ended: ${seconds.toFixed(1)} s`);
});

test("from ebb manifests to Helm: Helm installs when the objects of ebb manifests are removed, not before", async () => {
  await using installed = await release("helm");
  const { here, withChart } = installed;
  const { stdout: manifests } = await ebb(["manifests", "webhook", "-n", here.name, "--image", images.ebb]);
  await here.apply(manifests);
  const values = { image: imageValues(images.ebb), fullnameOverride: "ebb" }; // the same names
  await expect(withChart("install", values)).rejects.toThrow("cannot be imported into the current release");
  await kubectl(["delete", "-f", "-"], { stdin: manifests });
  await withChart("install", values);
});
