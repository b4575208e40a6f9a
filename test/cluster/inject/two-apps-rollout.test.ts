import { describe, expect, test } from "bun:test";
import { namespace } from "../cluster.ts";
import { envoyPort, envoySidecar, inbound, patience } from "../envoy.ts";
import { deploymentOf, type PodSpec, serviceOf } from "../objects.ts";
import { programs } from "../programs.ts";
import { loadPrograms, restart } from "../run/rollout.ts";
import { applyInjected } from "./injected.ts";

const WEB = 8081;
const OTHER = 8082;
/** Envoy's port for the second app. */
const SECOND = 8090;

const second = { ...inbound, name: "second", port: SECOND, httpPort: OTHER };
const { configMap, volume, container } = envoySidecar({ upstreamPort: WEB, listeners: [inbound, second] });
const probe = (port: number) => ({ readinessProbe: { httpGet: { path: "/", port }, periodSeconds: 1, ...patience } });
const app = (name: string, port: number, through: number) => ({
  ...programs.container(name, "server.ts", "127.0.0.1", `${port}`),
  ports: [{ containerPort: port }],
  ...probe(through),
});

/** Longer than a busy machine needs to take a pod out of its Service. */
const annotations = { "ebb.dev/drain": "45s", "ebb.dev/min-drain": "15s" };

describe("a rolling restart of a Deployment of two apps behind one Envoy, under load,", () => {
  test.concurrent.each<[string, Readonly<Record<string, string>>]>([
    ["an ordinary sidecar", annotations],
    ["one that ebb has made native", { ...annotations, "ebb.dev/native": "true" }],
  ])("loses no request of either, as ebb inject has it: %s", async (name, said) => {
    await using here = await namespace();
    const spec: PodSpec = {
      terminationGracePeriodSeconds: 60,
      containers: [app("web", WEB, envoyPort), container, app("second", OTHER, SECOND)],
      volumes: [volume, programs.volume],
    };
    const strategy = { rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } };
    await applyInjected(here, [
      configMap,
      loadPrograms,
      deploymentOf("web", spec, { replicas: 2, strategy, annotations: said }),
      serviceOf("web", { http: envoyPort, second: SECOND }),
    ]);
    await here.kubectl("rollout", "status", "deployment/web", "--timeout=240s");
    const { sent, losses, pods, seconds, logs } = await restart(here, [envoyPort, SECOND]);
    console.log(`two apps beside ${name}: ${losses.length} of ${sent} requests lost in ${seconds.toFixed(1)} s`);
    if (losses.length > 0) console.log(logs);
    expect(losses).toEqual([]);
    expect(pods.length).toBeGreaterThanOrEqual(4); // two before, two after
  });
});
