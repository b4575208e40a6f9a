import { describe, expect, test } from "bun:test";
import { stringify } from "yaml";
import { ebb, ebbPath, isDrainLine, type LogLine, logOf, timeOf } from "../../harness/ebb.ts";
import { images, type Namespace, namespace } from "../cluster.ts";
import { envoySidecar } from "../envoy.ts";
import { exitCodeOf, hasCondition, jobOf, type KubeObject, podOf, statusOf } from "../objects.ts";
import { programs } from "../programs.ts";
import { startInstallation } from "../webhook/installation.ts";

// What a cluster or a container itself limits or holds up: amounts of resources, and hooks.

const PORT = 8081;
const sleep = { preStop: { exec: { command: ["sleep", "2"] } } };
const SLEPT_MS = 2000;
/** More than a busy machine needs to start ebb, less than the minute for which ebb may wait. */
const BUSY_MS = 30_000;

function limitingBy(kind: string, spec: object): KubeObject {
  return { apiVersion: "v1", kind, metadata: { name: "limit" }, spec };
}

const amounts = (cpu: string, memory: string) => ({ cpu, memory });

/** `ebb inject | kubectl apply -f -`. */
async function applyInjected(here: Namespace, ...objects: readonly KubeObject[]): Promise<void> {
  const stdin = Buffer.from(objects.map((object) => stringify(object)).join("---\n"));
  const words = [ebbPath, "inject", "--quiet", "--image", images.ebb, "--all"];
  const ended = Bun.spawn(words, { stdin, stdout: "pipe", stderr: "pipe" });
  const [stdout, stderr] = await Promise.all([ended.stdout.text(), ended.stderr.text()]);
  expect([await ended.exited, stderr]).toEqual([0, ""]);
  await here.apply(stdout);
}

describe("a Job that ebb was put into is admitted, and completes,", () => {
  const app = { requests: amounts("50m", "32Mi"), limits: amounts("500m", "64Mi") };
  const sidecar = { requests: amounts("50m", "64Mi"), limits: amounts("1", "256Mi") };
  const limitRange = limitingBy("LimitRange", {
    limits: [
      {
        type: "Container",
        default: amounts("1", "256Mi"),
        defaultRequest: amounts("50m", "32Mi"),
        min: amounts("10m", "16Mi"),
      },
    ],
  });
  /** What the Job's containers use, and no more. */
  const quota = limitingBy("ResourceQuota", {
    hard: { "requests.cpu": "100m", "requests.memory": "96Mi", "limits.cpu": "1500m", "limits.memory": "320Mi" },
  });
  const tooLittle = { requests: amounts("1m", "1Mi") };
  const limited = (cpu: string, memory: string) => ({ limits: amounts(cpu, memory) });
  const max = limitingBy("LimitRange", { limits: [{ type: "Container", max: amounts("500m", "100Mi") }] });
  const tooMuch = limited("500m", "128Mi");

  test.concurrent.each<[string, KubeObject, object, object, object, string]>([
    ["under a LimitRange", limitRange, app, sidecar, tooLittle, "minimum memory usage per Container is 16Mi"],
    ["with a LimitRange's defaults", limitRange, {}, {}, tooLittle, "minimum cpu usage per Container is 10m"],
    ["under a ResourceQuota that it fills", quota, app, sidecar, {}, "must specify limits.cpu"],
    [
      "under a LimitRange's max of less than 128Mi, and than the processors of both",
      max,
      limited("300m", "64Mi"),
      limited("300m", "96Mi"),
      tooMuch,
      "maximum memory usage per Container is 100Mi, but limit is 128Mi",
    ],
  ])("%s", async (_, limit, ofApp, ofSidecar, refused, reason) => {
    await using here = await namespace();
    await here.apply([limit]);
    if (limit === quota) await here.until("the quota counts", () => isCounting(here));
    const child = { name: "app", image: images.app, command: ["/child", "exit", "0"] };
    const other = podOf("other", { containers: [{ ...child, resources: refused }] });
    expect((await here.tryApply([other])).stderr).toContain(reason);

    const { configMap, volume, container } = envoySidecar({ upstreamPort: PORT, more: { resources: ofSidecar } });
    const containers = [container, { ...child, resources: ofApp }];
    await applyInjected(here, configMap, jobOf("work", { containers, volumes: [volume] }));
    const { name } = (await here.podOf("work")).metadata;
    await here.until("the Job is complete", async () => hasCondition(await here.job("work"), "Complete"));
    const pod = await here.pod(name);
    expect([exitCodeOf(pod, "ebb-install"), exitCodeOf(pod, "app"), exitCodeOf(pod, "envoy")]).toEqual([0, 0, 0]);
  });

  async function isCounting(here: Namespace): Promise<boolean> {
    const { status } = await here.object<{ status?: { used?: object } }>("resourcequota/limit");
    return status?.used !== undefined;
  }
});

describe("beside the webhook", () => {
  const child = { name: "app", image: images.app, command: ["/child", "exit", "0"] };
  const limitRange = (limits: object) => limitingBy("LimitRange", { limits: [{ type: "Container", ...limits }] });

  test.concurrent("a LimitRange's max of less than 128Mi admits a Job with limits of its own, or its defaults", async () => {
    await using installed = await startInstallation({ webhook: { replicas: 1, all: true } });
    await using here = await installed.namespace();
    const defaults = { default: amounts("200m", "64Mi"), defaultRequest: amounts("50m", "32Mi") };
    const { configMap, volume, container } = envoySidecar({ upstreamPort: PORT });
    const job = (name: string, more: object) => {
      const containers = [child, container].map((each) => ({ ...each, ...more }));
      return jobOf(name, { containers, volumes: [volume] });
    };
    await here.apply([configMap, limitRange({ max: amounts("500m", "100Mi"), ...defaults })]);
    await here.apply([job("own", { resources: { limits: amounts("300m", "96Mi") } }), job("defaults", {})]);
    const limits = { own: amounts("300m", "96Mi"), defaults: amounts("200m", "64Mi") };
    for (const [name, expected] of Object.entries(limits)) {
      await here.until(`${name} is complete`, async () => hasCondition(await here.job(name), "Complete"));
      const { spec } = await here.podOf(name);
      expect(spec.initContainers).toMatchObject([{ name: "ebb-install", resources: { limits: expected } }]);
    }
  });

  test.concurrent("ebb doctor names the container that a LimitRange refuses", async () => {
    await using installed = await startInstallation({ webhook: { replicas: 1, all: true } });
    await using here = await installed.namespace();
    await here.apply([limitRange({ min: { memory: "32Mi" } })]);
    await here.apply([jobOf("changed", { containers: [child] })]);
    const requests = { memory: "64Mi" };
    await applyInjected(here, jobOf("injected", { containers: [{ ...child, resources: { requests } }] }));
    const env = { KUBECONFIG: process.env.KUBECONFIG ?? "" };
    const findings = async () => {
      const { stdout } = await ebb(["doctor", "--namespace", here.name], { env });
      const lines = stdout.split("\n").filter((line) => line.startsWith("Job "));
      return lines.length === 2 && lines.sort();
    };
    const why =
      "its pods, which have or should have ebb, are refused: minimum memory usage per Container is 32Mi, but request is 16Mi";
    expect(await here.until("both are refused", findings)).toEqual([
      `Job ${here.name}/changed: ${why} (no container of its template has that amount: it may be ebb-install, which the webhook adds)`,
      `Job ${here.name}/injected: ${why} (container ebb-install)`,
    ]);
  });
});

test.concurrent("in the place of a preStop hook that sleeps ebb run drains for as long, also where the image has no sleep", async () => {
  await using here = await namespace();
  const app = { name: "app", image: images.app, command: ["/child", "record"], lifecycle: sleep };
  const { configMap, volume, container: envoy } = envoySidecar({ upstreamPort: PORT });
  await here.apply([podOf("before", { containers: [app] })]);
  await applyInjected(
    here,
    configMap,
    podOf("after", { containers: [app, envoy], volumes: [volume], restartPolicy: "Always" }),
  );
  for (const name of ["before", "after"]) {
    await here.until(`${name} is ready`, async () => hasCondition(await here.pod(name), "Ready"));
    await here.until("the app runs", async () => (await here.logs(name, "app")).includes("ready\n"));
  }

  const logs = Promise.all(["app", "envoy"].map((name) => here.kubectl("logs", "--follow", "after", "-c", name)));
  const start = performance.now();
  await here.kubectl("delete", "pod", "after");
  expect(performance.now() - start).toBeGreaterThanOrEqual(SLEPT_MS);
  const [ofApp = "", ofEnvoy = ""] = await logs;
  const [drain, ...more] = logOf(ofApp).filter(isDrainLine);
  expect(drain).toMatchObject({ outcome: "drained" });
  expect(drain?.tookMs).toBeGreaterThanOrEqual(SLEPT_MS);
  expect(more).toEqual([]);
  expect(ofApp).toContain("\n15\n"); // it ends by itself at SIGTERM, after the drain
  expect(logOf(ofEnvoy).map(({ msg }) => msg)).toContain("ebb: the apps have ended: letting the proxy go");

  await here.kubectl("delete", "pod", "before");
  const failed = async () => {
    const words = ["get", "events", "--field-selector", "reason=FailedPreStopHook"];
    return (await here.kubectl(...words, "-o", "jsonpath={.items[*].involvedObject.name}")).split(" ").filter(Boolean);
  };
  await here.until("an Event tells of the hook that failed", async () => (await failed()).length > 0);
  expect(await failed()).toEqual(["before"]);
});

test.concurrent("a postStart hook that waits for the app, before a sidecar that comes later, holds up nothing", async () => {
  await using here = await namespace();
  const isUp = `fetch("http://127.0.0.1:${PORT}/").then(() => true, () => Bun.sleep(100))`;
  const waits = { postStart: { exec: { command: ["/bun", "-e", `while (!(await ${isUp}));`] } } };
  const { configMap, volume, container: envoy } = envoySidecar({ upstreamPort: PORT });
  const app = { ...programs.container("app", "server.ts"), lifecycle: waits };
  const pod = podOf("web", {
    containers: [app, envoy],
    volumes: [volume, programs.volume],
    restartPolicy: "Always",
  });
  await applyInjected(here, configMap, programs.configMap("server.ts"), pod);
  const ready = await here.until("it is ready", async () => {
    const pod = await here.pod("web");
    return hasCondition(pod, "Ready") && pod;
  });
  expect(["app", "envoy"].map((name) => statusOf(ready, name)?.restartCount)).toEqual([0, 0]);
  const log = logOf(await here.logs("web", "app"));
  expect(log.map(({ msg }) => msg)).not.toContain("ebb: ready");
  const started = log.find(({ msg }) => msg === "ebb: started the command") as LogLine;
  const { startedAt = "" } = statusOf(ready, "app")?.state.running ?? {};
  expect(timeOf(started) - Date.parse(startedAt)).toBeLessThan(BUSY_MS);
});
