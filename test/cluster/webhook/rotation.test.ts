import { expect, test } from "bun:test";
import type { Secret } from "../../../src/cluster/api/core/objects.ts";
import { readSecret } from "../../../src/cluster/certificates/held.ts";
import { takes } from "../../harness/time.ts";
import { request } from "../api.ts";
import { namespace } from "../cluster.ts";
import { hasCondition, type Pod, podOf } from "../objects.ts";
import { installation } from "./installation.ts";
import { patchSecret, plantAuthority } from "./plant.ts";

// An installed webhook that is asked all the time, with failurePolicy Fail: a certificate that the API server does not trust
// would refuse a pod.

/** The life of a CA: two thirds of it, and the 10 s in which API servers learn of the next one, leave 20 s. */
const LIFE_MS = 90_000;
const SWAPPED = "serving with a new certificate";
const containers = [{ name: "app", image: "localhost/app:test", command: ["/app"] }];

test("each new CA is taken without a pod refused: in the place of another, at its end, after the Secret was broken, or deleted", async () => {
  await using target = await namespace();
  const namespaceSelector = [{ key: "kubernetes.io/metadata.name", operator: "In", values: [target.name] }];
  const webhook = { failurePolicy: "Fail", namespaceSelector };
  await using installed = await installation({ webhook });
  const { here } = installed;
  const { code, stderr } = await installed.kubectl("apply");
  expect({ code, stderr }).toMatchObject({ code: 0 });
  const replicas = async () => (await here.pods()).filter((pod) => pod.metadata.deletionTimestamp === undefined);
  await here.until("two replicas are ready", async () => {
    const pods = await replicas();
    return pods.length === 2 && pods.every((pod) => hasCondition(pod, "Ready"));
  });
  const ask = async (): Promise<string> => {
    const pod = podOf("web", { containers }, { annotations: { "ebb.dev/inject": "true" } });
    const path = `/api/v1/namespaces/${target.name}/pods?dryRun=All`;
    const { status, text } = await request("POST", path, pod);
    const changed = status === 201 && (JSON.parse(text) as Pod).spec.initContainers?.[0]?.name === "ebb-install";
    return changed ? "changed" : text;
  };
  await here.until("pods are changed", async () => (await ask()) === "changed");
  const answers = new Map<string, number>();
  let isOver = false;
  const asking = (async () => {
    while (!isOver) {
      const answer = await ask();
      answers.set(answer, (answers.get(answer) ?? 0) + 1);
      await takes(20);
    }
  })();
  const secret = `${installed.name}-certificates`;
  const newest = async () => readSecret(await here.object<Secret>(`secret/${secret}`)).authorities[0]?.id;
  const swaps = async (): Promise<ReadonlyMap<string, number>> => {
    const names = (await replicas()).map(({ metadata }) => metadata.name);
    const logs = names.map(async (name) => [name, await here.logs(name, "webhook")] as const);
    return new Map((await Promise.all(logs)).map(([name, log]) => [name, log.split(SWAPPED).length]));
  };
  /** Waits until there is another CA, and each replica that was there serves what it has signed. */
  const renewedBy = async (what: string, act: () => Promise<unknown>): Promise<void> => {
    const [first, before] = [await newest(), await swaps()];
    await act();
    await here.until(`another CA: ${what}`, async () => ![undefined, first].includes(await newest()));
    await here.until(`it has signed: ${what}`, async () => {
      const now = await swaps();
      return now.size === 2 && [...now].every(([name, count]) => count > (before.get(name) ?? 0));
    });
  };
  await renewedBy("in its place", () => plantAuthority(here, secret, LIFE_MS));
  await renewedBy("at its end", async () => undefined);
  await renewedBy("broken", () => patchSecret(here, secret, { "ca.crt": "nonsense" }));
  await renewedBy("deleted, and a replica with it", async () => {
    const [gone] = await replicas();
    await here.kubectl("delete", "pod", gone?.metadata.name as string, "--wait=false");
    await here.kubectl("delete", "secret", secret);
    expect(await installed.kubectl("apply")).toMatchObject({ code: 0 });
  });
  const count = answers.get("changed") ?? 0;
  await here.until("more answers", () => (answers.get("changed") ?? 0) > count + 50 || answers.size > 1);
  isOver = true;
  await asking;
  expect([...answers.keys()]).toEqual(["changed"]);
  expect(answers.get("changed")).toBeGreaterThan(100);
}, 400_000);
