import { describe, expect, test } from "bun:test";
import { request } from "../api.ts";
import type { Namespace } from "../cluster.ts";
import { kubectl } from "../kubectl.ts";
import { createdDuring, createPod, inject, startInstallation } from "./installation.ts";

// While pods are created all the time, something happens to the webhook that the chart has installed.

const component = "app.kubernetes.io/component=webhook";

describe("every pod gets ebb", () => {
  test.concurrent("while all replicas are replaced, and then one of them goes", async () => {
    await using installed = await startInstallation();
    const { here, name } = installed;
    await using there = await installed.namespace();
    const created = await createdDuring(there, async () => {
      const before = await podNames(here);
      await here.kubectl("rollout", "restart", `deployment/${name}`);
      await here.until("all are others", async () => {
        const now = await podNames(here);
        return now.length === before.length && now.every((pod) => !before.includes(pod));
      });
      const [gone = ""] = await podNames(here);
      await here.kubectl("delete", "pod", gone, "--wait=false");
      await here.until("there is another", async () => {
        const now = await podNames(here);
        return now.length === before.length && !now.includes(gone);
      });
    });
    expectAllChanged(created);
  });

  test.concurrent("while the CA and the certificate are renewed", async () => {
    await using installed = await startInstallation();
    const { here, name } = installed;
    await using there = await installed.namespace();
    const created = await createdDuring(there, async () => {
      const first = await bundleOf(name);
      // who has lost its key makes another CA, as at the end of its life
      const patch = JSON.stringify([{ op: "remove", path: "/data/ca.key" }]);
      await here.kubectl("patch", "secret", `${name}-certificates`, "--type=json", "-p", patch);
      const both = await here.until("the API server trusts another CA, too", async () => {
        const bundle = await bundleOf(name);
        return bundle !== first && bundle;
      });
      expect(both.split("BEGIN CERTIFICATE").length).toBeGreaterThan(2);
      await here.until("each replica serves with a certificate of that one", async () => {
        return (await logsOf(here)).every((log) => log.includes("serving with a new certificate"));
      });
    });
    expectAllChanged(created);
  });

  test.concurrent("while the Secret is deleted, and a replica replaced; each says so, and goes on once it is installed again", async () => {
    await using installed = await startInstallation();
    const { here, name } = installed;
    await using there = await installed.namespace();
    const reason = `the Secret ${here.name}/${name}-certificates does not exist: apply the manifests (or helm upgrade) again`;
    const eachSays = async (): Promise<boolean> => (await logsOf(here)).every((log) => log.includes(reason));
    const created = await createdDuring(there, async (soFar) => {
      const first = await bundleOf(name);
      const before = await podNames(here);
      await here.kubectl("delete", `secret/${name}-certificates`);
      await here.until("the log of each asks for the Secret", eachSays);
      const [gone = ""] = before;
      await here.kubectl("delete", "pod", gone);
      const fresh = await here.until("there is another", async () => {
        return (await podNames(here)).find((pod) => !before.includes(pod));
      });
      const probe = `/api/v1/namespaces/${here.name}/pods/${fresh}:8080/proxy/readyz`;
      await here.until("its probe asks for the Secret", async () => {
        const { status, text } = await request("GET", probe);
        return status === 503 && text === `no certificate yet: ${reason}\n`;
      });
      await here.until("so does its log", eachSays);
      const count = soFar.length;
      await there.until("there are enough pods to judge the one that is left", () => soFar.length > count + 20);
      expect(await bundleOf(name)).toBe(first);
      await installed.kubectl("apply", "--server-side");
      await here.until("the API server trusts another CA, too", async () => (await bundleOf(name)) !== first);
      await here.until("the new replica is ready", async () => (await request("GET", probe)).status === 200);
    });
    expectAllChanged(created);
  });

  async function logsOf(here: Namespace): Promise<readonly string[]> {
    const pods = await here.pods(component);
    return await Promise.all(pods.map(({ metadata }) => here.logs(metadata.name, "webhook")));
  }

  function expectAllChanged(created: readonly { readonly initContainers: readonly string[] }[]): void {
    const others = created.filter(({ initContainers }) => !initContainers.includes("ebb-install"));
    expect(others).toEqual([]);
    expect(created.length).toBeGreaterThan(20);
  }
});

describe("where no replica is left", () => {
  test.concurrent.each([
    ["pods are created without ebb", "Ignore", { status: 201, initContainers: [] }],
    [
      "with failurePolicy Fail those that ask for it are refused, and say why",
      "Fail",
      { status: 500, message: expect.stringContaining('failed calling webhook "inject.ebb.dev"') },
    ],
  ] as const)("%s", async (_, policy, expected) => {
    await using installed = await startInstallation({ webhook: { replicas: 1, failurePolicy: policy } });
    const { here, name } = installed;
    await using there = await installed.namespace();
    await here.kubectl("scale", `deployment/${name}`, "--replicas=0");
    await here.until("none is left", async () => (await here.pods(component)).length === 0);
    expect(await createPod(there, inject)).toMatchObject(expected);
    expect(await createPod(there, {})).toMatchObject({ status: 201, initContainers: [] });
    await here.kubectl("scale", `deployment/${name}`, "--replicas=1");
    await here.until("pods get ebb again", async () => (await createPod(there, inject)).initContainers.length > 0);
  });
});

test.concurrent("applied again it goes on to work, and deleted it is gone", async () => {
  await using installed = await startInstallation({ webhook: { replicas: 1 } });
  await using there = await installed.namespace();
  const { here, name } = installed;
  const bundle = await bundleOf(name);
  const getsEbb = async () => (await createPod(there, inject)).initContainers.includes("ebb-install");
  for (const words of [["apply", "--server-side"], ["apply"]]) {
    expect(await installed.kubectl(...words)).toMatchObject({ code: 0 });
    expect(await bundleOf(name)).toBe(bundle);
  }
  expect(await installed.kubectl("replace")).toMatchObject({ code: 0 });
  // that empties the Secret, too: the former CA is trusted beside the new one
  await here.until("the API server trusts the webhook", async () => (await bundleOf(name)).includes(bundle));
  await here.until("pods get ebb", getsEbb);
  expect(await installed.kubectl("delete", "--ignore-not-found", "--wait=false")).toMatchObject({ code: 0 });
  await here.until("pods are what they were", async () => !(await getsEbb()));
  expect(await createPod(there, inject)).toMatchObject({ status: 201 });
});

/** Of all pods, those on their way out too. */
async function podNames(here: Namespace): Promise<readonly string[]> {
  return (await here.pods(component)).map(({ metadata }) => metadata.name);
}

/** The certificates by which the API server knows the webhook, in PEM. */
async function bundleOf(name: string): Promise<string> {
  const path = "jsonpath={.webhooks[0].clientConfig.caBundle}";
  return Buffer.from(await kubectl(["get", "mutatingwebhookconfigurations", name, "-o", path]), "base64").toString();
}
