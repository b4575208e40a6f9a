import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type MethodKind, methodKinds } from "../../../src/cluster/reaper/core/methods.ts";
import { logOf } from "../../harness/ebb.ts";
import { images, namespace } from "../cluster.ts";
import { type Container, exitCodeOf, hasCondition, jobOf, type KubeObject, type Pod, statusOf } from "../objects.ts";
import { reaped, startReaper } from "../reaper/reapers.ts";
import { inject } from "../webhook/installation.ts";
import { injected, istiodUrl, sidecarKind } from "./istio.ts";
import { type Order, startWebhooks, type Webhooks } from "./webhooks.ts";

// A real istiod injects, and a real pilot-agent with its Envoy is the sidecar.

let webhooks: Webhooks;

beforeAll(async () => {
  webhooks = await startWebhooks();
}, 300_000);

afterAll(async () => {
  await webhooks?.[Symbol.asyncDispose]();
});

interface Case {
  readonly sidecar: string;
  readonly order: Order;
  readonly isNative: boolean;
  readonly code: number;
}

const cases: readonly Case[] = [
  { sidecar: "an ordinary container", order: "before Istio's", isNative: false, code: 0 },
  { sidecar: "an ordinary container", order: "after Istio's", isNative: false, code: 3 },
  { sidecar: "a native one", order: "before Istio's", isNative: true, code: 3 },
  { sidecar: "a native one", order: "after Istio's", isNative: true, code: 0 },
];

describe("a Job in a namespace that Istio injects into", () => {
  test.concurrent.each(cases)(
    "ends with its app's code, $code, beside $sidecar, ebb being asked $order",
    async (one) => {
      const { order, isNative, code } = one;
      const condition = code === 0 ? "Complete" : "Failed";
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
      expect(log.filter((each) => each !== "waiting until ready")).toEqual(
        isNative
          ? ["found", "ready", "started the command", "done"]
          : ["found", "ready", "started the command", "asked the sidecar to exit", "done"],
      );
    },
  );
});

describe("a Job of three apps in a namespace that Istio injects into", () => {
  test.concurrent.each([
    ["an ordinary container, which the last one quits", "before Istio's", false],
    ["an ordinary container, which the last one quits", "after Istio's", false],
    ["a native one", "before Istio's", true],
  ] as const)(
    "fails with one's code when all have ended, beside %s, ebb being asked %s",
    async (_, order, isNative) => {
      await using here = await webhooks.namespace(order);
      const apps = [0, 3, 0].map((code, at) => ({
        ...{ name: `app-${at}`, image: images.app },
        command: ["/child", "clock", `${code}`, `${at * 700_000}`],
      }));
      await here.apply([jobOfApps(apps, { ...inject, ...sidecarKind(isNative) })]);
      await here.until("the Job has failed", async () => hasCondition(await here.job("work"), "Failed"));
      const pod = await here.podOf("work");
      const names = [...apps.map(({ name }) => name), "istio-proxy"];
      expect(names.map((name) => exitCodeOf(pod, name))).toEqual([0, 3, 0, 0]);
      const logs = await Promise.all(apps.map(async ({ name }) => logOf(await here.logs(pod.metadata.name, name))));
      const quits = logs.map((log) => log.filter(({ msg }) => msg === "ebb: asked the sidecar to exit").length);
      expect(quits.filter((count) => count > 0)).toEqual(isNative ? [] : [1]);
    },
  );
});

describe("a Job without ebb, which Istio's ordinary sidecar keeps from its end,", () => {
  test.concurrent.each<MethodKind>([...methodKinds])("is ended by the reaper: by %s", async (method) => {
    await using here = await webhooks.namespace("before Istio's");
    await here.apply([work(3, { ...reaped, ...sidecarKind(false) })]);
    const { metadata } = await here.podOf("work");
    await here.until("its app has ended, its proxy is ready", async () => {
      const now = await here.pod(metadata.name);
      return exitCodeOf(now, "app") === 3 && statusOf(now, "istio-proxy")?.ready === true;
    });
    await using reaper = await startReaper(here, ["--methods", method]);
    await here.until("the Job has failed", async () => hasCondition(await here.job("work"), "Failed"));
    const pod = await here.pod(metadata.name);
    expect([exitCodeOf(pod, "app"), exitCodeOf(pod, "istio-proxy")]).toEqual([3, 0]);
    expect(await reaper.metric(`ebb_reaper_acts_total{method="${method}",result="taken"}`)).toBe(1);
  });
});

describe("a Job whose image has ebb as its entrypoint, which nothing but ports tells of Istio,", () => {
  test.concurrent.each([
    ["an ordinary container", false],
    ["a native one", true],
  ] as const)("fails with its app's code beside %s", async (_, isNative) => {
    await using here = await namespace(injected);
    const app = {
      name: "app",
      image: images.appInEbb,
      args: ["run", "--detect-timeout", "2m", "--", "/child", "exit", "3"],
    };
    await here.apply([jobWith(app, sidecarKind(isNative))]);
    await here.until("the Job has failed", async () => hasCondition(await here.job("work"), "Failed"));
    const pod = await here.podOf("work");
    expect([exitCodeOf(pod, "app"), exitCodeOf(pod, "istio-proxy")]).toEqual([3, 0]);
  });
});

describe("an app that asks another Service as soon as it starts, beside Istio's ordinary sidecar,", () => {
  test.concurrent.each([
    ["is answered with ebb, which waits for the proxy", 0, inject],
    ["fails without ebb: nobody listens yet where its traffic is redirected", 1, {}],
  ] as const)("%s", async (_, code, annotations) => {
    await using here = await webhooks.namespace("before Istio's");
    const ask = `process.exit((await fetch("${await istiodUrl()}/version")).status === 200 ? 0 : 4)`; // 1: fetch has failed
    const app = { name: "app", image: images.bun, command: ["/bun", "-e", ask] };
    await here.apply([jobWith(app, { ...annotations, ...sidecarKind(false) })]);
    const { metadata } = await here.podOf("work");
    const ended = await here.until("the app has ended", async () => {
      const now = exitCodeOf(await here.pod(metadata.name), "app");
      return now === undefined ? undefined : { code: now };
    });
    expect(ended).toEqual({ code });
  });
});

function work(code: number, annotations: Readonly<Record<string, string>>): KubeObject {
  return jobWith({ name: "app", image: images.app, command: ["/child", "exit", `${code}`] }, annotations);
}

function jobWith(app: Container, annotations: Readonly<Record<string, string>>): KubeObject {
  return jobOfApps([app], annotations);
}

function jobOfApps(containers: readonly Container[], annotations: Readonly<Record<string, string>>): KubeObject {
  const job = jobOf("work", { containers });
  const { template, ...spec } = job.spec as { template: { metadata: object } };
  return { ...job, spec: { ...spec, template: { ...template, metadata: { ...template.metadata, annotations } } } };
}

/** Names in order, but for that of init containers that end: which webhook came first is no matter. */
function partsOf({ spec }: Pod): object {
  const names = (list: readonly { readonly name: string }[] = []) => list.map(({ name }) => name);
  return { init: names(spec.initContainers).sort(), containers: names(spec.containers).sort() };
}
