import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Namespace } from "../cluster.ts";
import { patience } from "../envoy.ts";
import { deploymentOf, serviceOf } from "../objects.ts";
import { programs } from "../programs.ts";
import { loadPrograms, type Rollout, restart } from "../run/rollout.ts";
import { type Installation, inject, startInstallation } from "../webhook/installation.ts";
import { injected, proxyEnvironment, sidecarKind, startIstio } from "./istio.ts";

let ebb: Installation;

beforeAll(async () => {
  [ebb] = await Promise.all([startInstallation({ webhook: { replicas: 1 } }), startIstio()]);
}, 300_000);

afterAll(async () => {
  await ebb?.[Symbol.asyncDispose]();
});

/** A way in which the pods of a Deployment leave beside Istio's sidecar. */
interface Way {
  readonly name: string;
  readonly isNative: boolean;
  /** On its pods. */
  readonly annotations: Readonly<Record<string, string>>;
  /** Of the app's container. */
  readonly hook?: object;
}

const sleep = { lifecycle: { preStop: { sleep: { seconds: 5 } } } };
const waits = proxyEnvironment({ EXIT_ON_ZERO_ACTIVE_CONNECTIONS: "true" });

const PORT = 8081;
/** Of a few requests, so long that they outlast the others' drains of each pod. */
const LONG_MS = 30_000;

describe("a rolling restart of a Deployment beside Istio's sidecar, under load,", () => {
  test.concurrent.each<Way>([
    { name: "with ebb", isNative: false, annotations: inject },
    { name: "with ebb, and a native sidecar", isNative: true, annotations: inject },
  ])("loses no request $name", async (way) => {
    const { losses, pods, logs } = await measured(way);
    if (losses.length > 0) console.log(logs);
    expect(losses).toEqual([]);
    expect(pods.length).toBeGreaterThanOrEqual(4); // two before, two after
  });

  test.concurrent.each<Way>([
    { name: "without a hook", isNative: false, annotations: {} },
    { name: "with a sleep of 5 s", isNative: false, annotations: {}, hook: sleep },
    {
      name: "with a sleep of 5 s and EXIT_ON_ZERO_ACTIVE_CONNECTIONS",
      isNative: false,
      annotations: waits,
      hook: sleep,
    },
  ])("loses requests $name: nothing counts what is under way in the app", async (way) => {
    expect((await measured(way)).losses).not.toEqual([]);
  });
});

async function measured(way: Way): Promise<Rollout> {
  await using here = await ebb.namespace(injected);
  await deploy(here, way);
  const rollout = await restart(here, PORT, LONG_MS);
  const { sent, losses, seconds } = rollout;
  const long = losses.filter(({ client }) => client === "long").length;
  const lost = `${losses.length} of ${sent} requests lost, ${long} of them long ones,`;
  console.log(`${way.name}: ${lost} in ${seconds.toFixed(1)} s`);
  return rollout;
}

async function deploy(here: Namespace, { isNative, annotations, hook }: Way): Promise<void> {
  const probe = { httpGet: { path: "/", port: PORT }, periodSeconds: 1, ...patience };
  const app = { ...programs.container("app", "server.ts", "0.0.0.0"), readinessProbe: probe, ...hook };
  const spec = { terminationGracePeriodSeconds: 60, containers: [app], volumes: [programs.volume] };
  const web = deploymentOf("web", spec, {
    replicas: 2,
    strategy: { rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
    annotations: { ...sidecarKind(isNative), ...annotations },
  });
  await here.apply([loadPrograms, web, serviceOf("web", { http: PORT })]);
  await here.kubectl("rollout", "status", "deployment/web", "--timeout=240s");
}
