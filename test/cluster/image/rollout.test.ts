import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { images, type Namespace } from "../cluster.ts";
import { envoyPort, envoySidecar, patience } from "../envoy.ts";
import { type Container, deploymentOf, serviceOf } from "../objects.ts";
import { programs } from "../programs.ts";
import { loadPrograms, restart } from "../run/rollout.ts";
import { type Installation, startInstallation, startInstallationWith } from "../webhook/installation.ts";
import { type ClusterRegistry, obstacle, pullSecretOf, startClusterRegistry } from "./registries.ts";

// A rolling restart, under load, of a Deployment behind its Envoys whose manifest has no command.

const APP_PORT = 8081;
const asking = { "ebb.dev/inject": "true" };

test("without --registries it gets the drain alone, and loses no request", async () => {
  await using installed = await startInstallation({ webhook: { replicas: 1 } });
  await using here = await installed.namespace(asking);
  const {
    command: [bun, ...args],
    ...app
  } = programs.container("app", "server.ts");
  await deploy(here, { ...app, args });
  const [pod] = await here.pods("app=web");
  const [injected] = pod?.spec.containers ?? [];
  expect([bun, injected?.command, injected?.lifecycle]).toEqual(["/bun", undefined, { preStop: expect.anything() }]);
  const { containers } = JSON.parse(pod?.metadata.annotations?.["ebb.dev/status"] ?? "{}");
  expect(containers.app).toMatchObject({ hook: true, unwrapped: expect.stringContaining("--registries") });
  await expectNoLoss(here);
}, 600_000);

describe.skipIf(obstacle !== undefined)("with --registries", () => {
  let registry: ClusterRegistry;
  let installed: Installation;

  beforeAll(async () => {
    registry = await startClusterRegistry();
    await registry.push("team/web:1", { "linux/amd64": 'ENTRYPOINT ["/bun"]\nCMD ["/server.ts"]' });
    const objects = [registry.authority, pullSecretOf("own", registry.host)];
    const webhook = { ...registry.webhook, registrySecret: "own" };
    installed = await startInstallationWith(objects, { webhook: { replicas: 1, ...webhook } });
  }, 600_000);

  afterAll(async () => {
    await installed?.[Symbol.asyncDispose]();
    await registry?.[Symbol.asyncDispose]();
  });

  test("and the webhook's own credentials it waits and drains under ebb, and loses no request", async () => {
    await using here = await installed.namespace(asking);
    await here.apply([pullSecretOf("team-registry", registry.host)]);
    await deploy(here, { name: "app", image: `${registry.host}/team/web:1` }, [{ name: "team-registry" }]);
    const [pod] = await here.pods("app=web");
    expect(pod?.spec.containers[0]?.command).toEqual(["/ebb.dev/ebb", "run", "--", "/bun", "/server.ts"]);
    const log = await here.logs(pod?.metadata.name ?? "", "app");
    expect(log).toContain('"ebb: ready"');
    await expectNoLoss(here);
  }, 600_000);
});

/** Deploys two pods of the app, without a command, behind Envoys. */
async function deploy(here: Namespace, app: Container, imagePullSecrets: readonly object[] = []): Promise<void> {
  const { configMap, volume, container } = envoySidecar({ upstreamPort: APP_PORT });
  const readinessProbe = { httpGet: { path: "/", port: envoyPort }, periodSeconds: 1, ...patience }; // through Envoy
  const spec = {
    terminationGracePeriodSeconds: 60,
    imagePullSecrets,
    containers: [app, { ...container, readinessProbe, image: images.envoy }],
    volumes: [volume, programs.volume],
  };
  const web = deploymentOf("web", spec, {
    replicas: 2,
    strategy: { rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
  });
  const configMaps = [configMap, loadPrograms];
  await here.apply([...configMaps, web, serviceOf("web", { http: envoyPort })]);
  await here.kubectl("rollout", "status", "deployment/web", "--timeout=240s");
}

async function expectNoLoss(here: Namespace): Promise<void> {
  const { sent, losses, pods, seconds, logs } = await restart(here, envoyPort);
  console.log(`${losses.length} of ${sent} requests lost in ${seconds.toFixed(1)} s`);
  if (losses.length > 0) console.log(logs);
  expect(losses).toEqual([]);
  expect(pods.length).toBeGreaterThanOrEqual(4); // two before, two after
}
