import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { logOf } from "../harness.ts";
import { images } from "./cluster.ts";
import { inject } from "./installation.ts";
import { sidecarKind } from "./istio/istio.ts";
import { startWebhooks, type Webhooks } from "./istio/webhooks.ts";
import { exitCodeOf, hasCondition, jobOf, type KubeObject, type Pod } from "./objects.ts";

// A real istiod injects, and a real pilot-agent with its Envoy is the sidecar.

let webhooks: Webhooks;

beforeAll(async () => {
  webhooks = await startWebhooks();
}, 300_000);

afterAll(async () => {
  await webhooks?.[Symbol.asyncDispose]();
});

const cases = [
  { order: "before Istio's", isNative: false, code: 0, condition: "Complete" },
  { order: "after Istio's", isNative: false, code: 3, condition: "Failed" },
  { order: "before Istio's", isNative: true, code: 3, condition: "Failed" },
  { order: "after Istio's", isNative: true, code: 0, condition: "Complete" },
] as const;

describe("a Job in a namespace that Istio injects into", () => {
  test.concurrent.each(cases)("is over with its app's code: %o", async ({ order, isNative, code, condition }) => {
    await using here = await webhooks.namespace(order);
    await here.apply([work(code, { ...inject, ...sidecarKind(isNative) })]);
    await here.until(`the Job is ${condition}`, async () => hasCondition(await here.job("work"), condition));
    const pod = await here.podOf("work");
    expect(partsOf(pod)).toEqual(
      isNative
        ? { init: ["ebb-install", "istio-init", "istio-proxy"], containers: ["app"] }
        : { init: ["ebb-install", "istio-init"], containers: ["app", "istio-proxy"] },
    );
    expect([exitCodeOf(pod, "app"), exitCodeOf(pod, "istio-proxy")]).toEqual([code, 0]);
    const log = logOf(await here.logs(pod.metadata.name, "app")).map(({ msg }) => msg.replace("ebb: ", ""));
    expect(log.filter((each) => each !== "not ready")).toEqual(
      isNative ? ["found", "ready", "started", "done"] : ["found", "ready", "started", "quit", "done"],
    );
  });
});

function work(code: number, annotations: Readonly<Record<string, string>>): KubeObject {
  const job = jobOf("work", {
    containers: [{ name: "app", image: images.app, command: ["/child", "exit", `${code}`] }],
  });
  const { template, ...spec } = job.spec as { template: { metadata: object } };
  return { ...job, spec: { ...spec, template: { ...template, metadata: { ...template.metadata, annotations } } } };
}

/** Names in order, but for that of init containers that end: which webhook came first is no matter. */
function partsOf({ spec }: Pod): object {
  const names = (list: readonly { readonly name: string }[] = []) => list.map(({ name }) => name);
  return { init: names(spec.initContainers).sort(), containers: names(spec.containers).sort() };
}
