import { expect, test } from "bun:test";
import { images, namespace } from "../cluster.ts";
import { envoySidecar } from "../envoy.ts";
import { jobOf, type KubeObject, type Pod, podOf } from "../objects.ts";
import { imageValues, release } from "./release.ts";

const { configMap, volume, container: envoy } = envoySidecar({ upstreamPort: 8081 });

const app = { name: "app", image: images.app, command: ["/child", "exit", "0"] };

/** A Job that would never end: Envoy outlives its app. */
function stuckJob(name: string, annotations: Readonly<Record<string, string>> = {}): KubeObject {
  const job = jobOf(name, { containers: [app, envoy], volumes: [volume] });
  const { template } = job.spec as { readonly template: { readonly metadata: object } };
  Object.assign(template.metadata, { annotations });
  return job;
}

test("from nothing to a namespace whose Jobs end, by ebb in the pod or by the reaper, and whose pods drain", async () => {
  await using shop = await namespace();
  await using installed = await release("helm");
  const start = performance.now();
  await installed.withChart("install", { image: imageValues(images.ebb), reaper: { enabled: true } });
  await shop.kubectl("label", "namespace", shop.name, "ebb.dev/inject=true", "ebb.dev/reap=true");
  await shop.apply([configMap, stuckJob("injected"), stuckJob("reaped", { "ebb.dev/inject": "false" })]);
  await shop.kubectl("wait", "--for=condition=complete", "job", "--all", "--timeout=4m");
  const seconds = (performance.now() - start) / 1000;
  const pods = await shop.pods();
  const isInjected = pods.map(({ metadata, spec }) => [metadata.labels?.app, spec.initContainers !== undefined]);
  expect(Object.fromEntries(isInjected)).toEqual({ injected: true, reaped: false });
  const web = podOf("web", { restartPolicy: "Always", containers: [app, envoy], volumes: [volume] });
  const created = await shop.tryKubectl(["create", "--dry-run=server", "-o", "json", "-f", "-"], {
    stdin: JSON.stringify(web),
  });
  const { spec } = JSON.parse(created.stdout) as Pod;
  const sidecar = spec.containers.find(({ name }) => name === "envoy");
  expect(sidecar?.lifecycle).toMatchObject({ preStop: { exec: { command: expect.arrayContaining(["drain"]) } } });
  expect(await shop.kubectl("get", "events")).toMatch(/ebb-reaper|port-forward/);
  expect((await installed.objects()).length).toBeGreaterThan(20);
  await installed.helm("uninstall", installed.here.name, "--wait");
  await installed.here.until("nothing is left of it", async () => (await installed.objects()).length === 0);
  console.log(`from nothing to Jobs that have ended: ${seconds.toFixed(1)} s`);
});
