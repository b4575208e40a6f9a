import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { sidecarKind } from "../cluster/istio/istio.ts";
import { exitCodeOf, hasCondition, jobOf, type KubeObject } from "../cluster/objects.ts";
import { type Kueue, startKueue } from "./kueue.ts";
import { endsOf, images, type Mesh, startMesh } from "./mesh.ts";

// Kueue with its own controller and webhooks, beside a real Istio, in a namespace that has ebb. Each queue has room for one Job.

let mesh: Mesh;
let kueue: Kueue;

beforeAll(async () => {
  mesh = await startMesh();
  kueue = await startKueue(mesh.here);
}, 300_000);

afterAll(async () => {
  await kueue?.[Symbol.asyncDispose]();
  await mesh?.[Symbol.asyncDispose]();
});

describe("a Job that waits in Kueue's queue behind another one", () => {
  test.concurrent.each([
    ["an ordinary sidecar", false],
    ["a native one", true],
  ] as const)("starts when that has ended, and ends, beside %s", async (_, isNative) => {
    const { here } = mesh;
    const queue = isNative ? "native" : "ordinary";
    const [first, second] = [`${queue}-1`, `${queue}-2`];
    const labels = await kueue.queue(queue);
    await here.apply([job(first, labels, sidecarKind(isNative))]);
    await here.until("the first works", async () => (await mesh.requests(`/${first}`)).length > 0);
    await here.apply([job(second, labels, sidecarKind(isNative))]);
    await here.until("Kueue has no quota for the second", () => lacksQuota(second));
    expect([await kueue.used(queue), await isSuspended(second)]).toEqual(["100m", true]);
    await mesh.answer(`/${first}`);
    await here.until("the second works", async () => (await mesh.requests(`/${second}`)).length > 0);
    await mesh.answer(`/${second}`);
    for (const name of [first, second]) {
      await here.until(`Kueue has seen the end of ${name}`, () => isFinished(name));
      expect(hasCondition(await here.job(name), "Complete")).toBe(true);
      expect(endsOf(await here.podOf(name))).toMatchObject({ app: 0, "istio-proxy": 0 });
      expect(await mesh.requests(`/${name}`)).toEqual(["PUT mesh", "POST plain"]);
    }
    await here.until("the quota is free", async () => (await kueue.used(queue)) === "0");
  });

  test.concurrent("never starts without ebb: the ordinary sidecar of the first keeps the quota", async () => {
    const { here } = mesh;
    const [queue, first, second] = ["stuck", "stuck-1", "stuck-2"];
    const labels = await kueue.queue(queue);
    const held = { "proxy.istio.io/config": JSON.stringify({ holdApplicationUntilProxyStarts: true }) };
    const without = { ...sidecarKind(false), ...held, "ebb.dev/inject": "false" };
    await here.apply([job(first, labels, without)]);
    await here.until("the first works", async () => (await mesh.requests(`/${first}`)).length > 0);
    await here.apply([job(second, labels, without)]);
    await here.until("Kueue has no quota for the second", () => lacksQuota(second));
    await mesh.answer(`/${first}`);
    const { metadata } = await here.podOf(first);
    await here.until("its app has ended", async () => exitCodeOf(await here.pod(metadata.name), "app") === 0);
    expect(endsOf(await here.pod(metadata.name))).toMatchObject({ app: 0, "istio-proxy": "running" });
    expect([await kueue.used(queue), await isSuspended(second)]).toEqual(["100m", true]);
  });
});

/** Returns a Job whose app ends as soon as the server in the mesh answers it, and which Kueue starts. */
function job(
  name: string,
  labels: Readonly<Record<string, string>>,
  annotations: Readonly<Record<string, string>>,
): KubeObject {
  const work = `process.exit((await fetch("${mesh.url}/${name}?held", { method: "PUT", body: "x" })).ok ? 0 : 1);`;
  const resources = { requests: { cpu: "100m" } };
  const made = jobOf(name, {
    containers: [{ name: "app", image: images.bun, command: ["/bun", "-e", work], resources }],
  });
  const { template, ...spec } = made.spec as { template: { metadata: object } };
  const metadata = { ...template.metadata, annotations };
  return { ...made, metadata: { name, labels }, spec: { ...spec, suspend: true, template: { ...template, metadata } } };
}

async function lacksQuota(name: string): Promise<boolean> {
  return (await kueue.condition(name, "QuotaReserved")) === "False";
}

async function isFinished(name: string): Promise<boolean> {
  return (await kueue.condition(name, "Finished")) === "True";
}

async function isSuspended(name: string): Promise<unknown> {
  const { spec } = await mesh.here.object<{ spec: { suspend: boolean } }>(`job/${name}`);
  return spec.suspend;
}
