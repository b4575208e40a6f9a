import { expect, test } from "bun:test";
import { imageValues, type Release, release, valuesFor } from "../../cluster/chart/release.ts";
import { images, namespace } from "../../cluster/cluster.ts";
import { kubectl } from "../../cluster/kubectl.ts";
import { createdDuring, createPod, inject } from "../../cluster/webhook/installation.ts";

const component = "app.kubernetes.io/component=webhook";

// The chart is upgraded to another image and other values, and rolled back, while pods are created all the time.
test.each(["helm", "helm-4"] as const)("%s: every pod gets ebb, the CA is kept, and nothing is left", async (which) => {
  await using asked = await namespace();
  await using installed = await release(which);
  await installed.withChart("install", valuesFor(asked), "--dry-run=server");
  expect(await installed.objects()).toEqual([]);
  await installed.withChart("install", valuesFor(asked));
  await asked.until("pods get ebb", async () => (await createPod(asked, inject)).initContainers.length > 0);
  await installed.nameService();
  const authority = await authorityOf(installed);
  const created = await createdDuring(asked, async (soFar) => {
    const next = { image: imageValues(images.appInEbb), networkPolicy: true, reaper: { enabled: true } };
    await installed.withChart("upgrade", valuesFor(asked, next));
    await replaced(installed, images.appInEbb);
    await installed.helm("test", installed.here.name);
    await installed.helm("rollback", installed.here.name, "1", "--wait", "--timeout", "4m");
    await replaced(installed, images.ebb);
    await asked.until("there are enough pods to judge", () => soFar.length > 20);
  });
  const others = created.filter(
    ({ status, initContainers }) => status !== 201 || !initContainers.includes("ebb-install"),
  );
  expect(others).toEqual([]);
  expect(await authorityOf(installed)).toEqual(authority);
  expect((await installed.objects()).length).toBeGreaterThan(10);
  await expectFailingTest(installed);
  await installed.helm("uninstall", installed.here.name, "--wait");
  await installed.here.until("nothing is left of it", async () => (await installed.objects()).length === 0);
  expect(await createPod(asked, inject)).toMatchObject({ status: 201, initContainers: [] });
});

/** Expects `helm test` to fail while no replica answers, to print why, and to leave no pod. */
async function expectFailingTest({ here, name, helm, tryHelm }: Release): Promise<void> {
  await helm("rollback", here.name, "2", "--wait");
  await here.kubectl("scale", `deployment/${name}-webhook`, "--replicas=0");
  await here.until("no replica is left", async () => (await here.pods(component)).length === 0);
  const { code, stdout, stderr } = await tryHelm("test", here.name);
  const reason = `ebb: request: POST https://${name}-webhook.${here.name}.svc/mutate: `;
  expect([code, stdout + stderr]).toEqual([1, expect.stringContaining(reason)]);
  await here.until("its pod is gone", async () => (await here.pods("app.kubernetes.io/component=test")).length === 0);
}

/** Waits until all replicas are of this image. */
async function replaced({ here }: Release, image: string): Promise<void> {
  await here.until(`all replicas are of ${image}`, async () => {
    const pods = await here.pods(component);
    return pods.length === 2 && pods.every(({ spec }) => spec.containers[0]?.image === image);
  });
}

/** Returns what must not change: the CA that the API server trusts, and what the Secret has. */
async function authorityOf({ here, name }: Release): Promise<readonly string[]> {
  const path = "jsonpath={.webhooks[*].clientConfig.caBundle}";
  const bundle = await kubectl(["get", "mutatingwebhookconfigurations", `${name}-webhook`, "-o", path]);
  const secret = await here.kubectl("get", "secret", `${name}-webhook-certificates`, "-o", "jsonpath={.data}");
  return [bundle, secret];
}
