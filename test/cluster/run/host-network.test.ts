import { describe, expect, test } from "bun:test";
import { injectPod } from "../../../src/cluster/inject/core/inject-pod.ts";
import { configurationOf } from "../../envoy/bootstrap.ts";
import { images, type Namespace, namespace } from "../cluster.ts";
import {
  type Container,
  configMapOf,
  deploymentOf,
  exitCodeOf,
  hasCondition,
  jobOf,
  type KubeObject,
  podOf,
  statusOf,
} from "../objects.ts";

/** A real Envoy whose admin interface is there, on loopback. */
function envoyOn(port: number) {
  const admin = { host: "127.0.0.1", port };
  const node = { id: "gateway", cluster: "test" };
  const { bootstrap } = configurationOf({ admin, node, listenerPort: 0, listeners: [], upstreamPort: 1 });
  const name = `envoy-${port}`;
  const container: Container = {
    name: "proxy",
    image: images.envoyAndEbb,
    args: ["--config-path", "/etc/envoy/envoy.json", "--concurrency", "1", "--disable-hot-restart"],
    volumeMounts: [{ name, mountPath: "/etc/envoy", readOnly: true }],
  };
  const configMap = configMapOf(name, { "envoy.json": JSON.stringify(bootstrap) });
  return { configMap, container, volume: { name, configMap: { name } } };
}

const onNode = { hostNetwork: true } as const;

const policy = {
  image: images.ebb,
  all: true,
  volume: "emptyDir",
  options: new Map(),
  entrypoints: new Map(),
} as const;

/** A workload with ebb in its pods, as `ebb inject` and the webhook put it there. */
function injected(workload: KubeObject): KubeObject {
  const { spec } = workload as KubeObject & { spec: { template: object } };
  const injection = injectPod(spec.template, policy);
  if (injection.kind !== "changed") throw new Error(JSON.stringify(injection));
  expect(injection.warnings.map(({ field }) => field)).toEqual(["spec.hostNetwork"]);
  return { ...workload, spec: { ...spec, template: injection.pod } } as KubeObject;
}

function inEbb(...flags: readonly string[]): Container {
  return { name: "app", image: images.appInEbb, args: ["run", ...flags, "--", "/child", "exit", "0"] };
}

async function startOther(here: Namespace, port: number): Promise<void> {
  const { configMap, container, volume } = envoyOn(port);
  await here.apply([configMap, podOf("other", { containers: [container], volumes: [volume], ...onNode })]);
  await here.until("the other pod's Envoy runs", async () =>
    (await here.logs("other", "proxy")).includes("starting main dispatch loop"),
  );
}

async function isRunning(here: Namespace): Promise<boolean> {
  return statusOf(await here.pod("other"), "proxy")?.state.running !== undefined;
}

describe("a Job on its node's network, where another pod's Envoy listens", () => {
  test("completes, and leaves that Envoy alone: the kubelet's /etc/hosts tells", async () => {
    await using here = await namespace();
    await startOther(here, 9901);
    await here.apply([jobOf("work", { containers: [inEbb()], ...onNode })]);
    const { metadata } = await here.podOf("work");
    await here.until("the Job completes", async () => hasCondition(await here.job("work"), "Complete"));
    const log = await here.logs(metadata.name, "app");
    expect(log).toContain('"msg":"ebb: did not shut down a proxy"');
    expect(log).toContain(
      "on the node's network, a port may belong to another pod: name the sidecar with its port, --sidecar envoy:PORT",
    );
    expect(await isRunning(here)).toBe(true);
  });

  test("and with ebb put into it, too", async () => {
    await using here = await namespace();
    await startOther(here, 9901);
    const app = { name: "app", image: images.app, command: ["/child", "exit", "0"] };
    await here.apply([injected(jobOf("work", { containers: [app], ...onNode }))]);
    const { metadata } = await here.podOf("work");
    await here.until("the Job completes", async () => hasCondition(await here.job("work"), "Complete"));
    expect(await here.logs(metadata.name, "app")).toContain("on the node's network, a port may belong to another pod");
    expect(await isRunning(here)).toBe(true);
  });

  test("ends its own Envoy, whose admin interface it names", async () => {
    await using here = await namespace();
    await startOther(here, 9901);
    const { configMap, container, volume } = envoyOn(19_911);
    const containers = [container, inEbb("--admin", "http://localhost:19911")];
    await here.apply([configMap, podOf("work", { containers, volumes: [volume], ...onNode })]);
    await here.until("both have ended", async () => (await here.pod("work")).status.phase === "Succeeded");
    expect(exitCodeOf(await here.pod("work"), "proxy")).toBe(0);
    expect(await isRunning(here)).toBe(true);
  });
});

test("a DaemonSet on its node's network leaves without draining another pod's Envoy", async () => {
  await using here = await namespace();
  await startOther(here, 9901);
  const app = { name: "app", image: images.app, command: ["/child", "record"] };
  const { spec } = deploymentOf("agent", { containers: [app], ...onNode }) as KubeObject & {
    spec: { selector: object; template: object };
  };
  const daemonSet = {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: { name: "agent" },
    spec: { selector: spec.selector, template: spec.template },
  };
  await here.apply([injected(daemonSet as KubeObject)]);
  const { metadata } = await here.podOf("agent");
  await here.until(
    "its app runs",
    async () => statusOf(await here.pod(metadata.name), "app")?.state.running !== undefined,
  );
  await here.kubectl("delete", "daemonset/agent", "--wait=false");
  await here.until("its pod is gone", async () => (await here.pods("app=agent")).length === 0);
  expect(await isRunning(here)).toBe(true);
  const { stdout } = await here.exec("other", "proxy", "/ebb", "request", "http://127.0.0.1:9901/server_info");
  expect(stdout).toContain('"state": "LIVE"');
});

test("a Job in a network of its own ends its Envoy, found by port: the kubelet's /etc/hosts tells", async () => {
  await using here = await namespace();
  const { configMap, container, volume } = envoyOn(8001);
  const containers = [container, inEbb("--detect-timeout", "2m")];
  await here.apply([configMap, jobOf("work", { containers, volumes: [volume] })]);
  await here.until("the Job completes", async () => hasCondition(await here.job("work"), "Complete"));
});
