import { expect, test } from "bun:test";
import { alerts } from "../../../build/monitoring/monitoring.ts";
import { request } from "../../cluster/api.ts";
import { createPod, inject, startInstallation } from "../../cluster/webhook/installation.ts";

// The API server's own metrics, on which the alert EbbWebhookUnanswered relies.

const { expr = "" } = alerts.find(({ alert }) => alert === "EbbWebhookUnanswered") ?? {};
/** The label matchers of the alert, all of which are regular expressions. */
const matchers = [...(/\{(.*?)\}/.exec(expr)?.[1] ?? "").matchAll(/(\w+)=~"([^"]*)"/g)];

/** Returns the sum of the API server's samples that the alert counts. */
async function counted(): Promise<number> {
  const { text } = await request("GET", "/metrics");
  const samples = [...text.matchAll(/^(apiserver_admission_webhook_\w+)\{(.*)\} (\S+)$/gm)];
  return samples
    .filter(([, name = "", pairs = ""]) =>
      matchers.every(([, label = "", pattern = ""]) => {
        const value = label === "__name__" ? name : (new RegExp(`\\b${label}="([^"]*)"`).exec(pairs)?.[1] ?? "");
        return new RegExp(`^(?:${pattern.replaceAll("\\\\", "\\")})$`).test(value);
      }),
    )
    .reduce((sum, [, , , value]) => sum + Number(value), 0);
}

test.each([
  ["Ignore", 201],
  ["Fail", 500],
])("the API server counts a pod for which no replica answers, with failurePolicy %s", async (policy, status) => {
  await using installed = await startInstallation({ webhook: { replicas: 1, failurePolicy: policy } });
  const asked = await installed.namespace();
  const before = await counted();
  expect((await createPod(asked, inject)).status).toBe(201);
  expect(await counted()).toBe(before);
  await installed.here.kubectl("scale", `deployment/${installed.name}`, "--replicas=0");
  await installed.here.until("no replica is left", async () => (await installed.here.pods()).length === 0);
  const created = await createPod(asked, inject);
  expect({ status: created.status, initContainers: created.initContainers }).toEqual({ status, initContainers: [] });
  expect(await counted()).toBe(before + 1);
});
