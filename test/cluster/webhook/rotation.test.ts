import { expect, test } from "bun:test";
import { readSecret, type Secret } from "../../../src/cluster/certificates/held.ts";
import { takes } from "../../time.ts";
import { request } from "../api.ts";
import { namespace } from "../cluster.ts";
import { hasCondition, type Pod, podOf } from "../objects.ts";
import { installation } from "./installation.ts";

// An installed webhook whose certificates live for seconds, asked all the time, with failurePolicy Fail: a certificate that the
// API server does not trust would refuse a pod.

const LIVES = ["--certificate-validity=20s", "--ca-validity=60s"];
const containers = [{ name: "app", image: "localhost/app:test", command: ["/app"] }];

test("each new certificate and CA is taken without a pod refused; also when a replica goes, and the Secret is deleted and installed again", async () => {
  await using target = await namespace();
  const namespaceSelector = [{ key: "kubernetes.io/metadata.name", operator: "In", values: [target.name] }];
  const webhook = { failurePolicy: "Fail", namespaceSelector };
  await using installed = await installation({ webhook }, ...LIVES);
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
  const secret = `secret/${installed.name}-certificates`;
  const newest = async () => readSecret(await here.object<Secret>(secret)).serving?.authority;
  const first = await newest();
  await here.until("another CA has signed", async () => ![undefined, first].includes(await newest()));
  const before = await newest();
  const [gone] = await replicas();
  await here.kubectl("delete", "pod", gone?.metadata.name as string, "--wait=false");
  await here.kubectl("delete", secret);
  expect(await installed.kubectl("apply")).toMatchObject({ code: 0 });
  await here.until("yet another CA has signed", async () => ![undefined, first, before].includes(await newest()));
  const count = answers.get("changed") ?? 0;
  await here.until("more answers", () => (answers.get("changed") ?? 0) > count + 50 || answers.size > 1);
  isOver = true;
  await asking;
  expect([...answers.keys()]).toEqual(["changed"]);
  expect(answers.get("changed")).toBeGreaterThan(100);
}, 400_000);
