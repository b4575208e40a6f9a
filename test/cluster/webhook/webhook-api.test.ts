import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { issueAuthority, issueServing } from "../../../src/cluster/certificates/issue.ts";
import { request } from "../api.ts";
import { images, type Namespace, namespace } from "../cluster.ts";
import { type Output, tryKubectl } from "../kubectl.ts";
import {
  type Container,
  configMapOf,
  deploymentOf,
  hasCondition,
  type KubeObject,
  type Pod,
  type PodSpec,
  podOf,
  serviceOf,
} from "../objects.ts";

// What a real API server makes of what `ebb webhook` answers. Most pods are made by a dry run, so that none has to start.

const HOUR_MS = 3_600_000;
const life = { fromMs: Date.now() - HOUR_MS, untilMs: Date.now() + HOUR_MS };
const authority = issueAuthority(life);

let here: Namespace;

beforeAll(async () => {
  here = await namespace();
  const injector = await Bun.file(join(import.meta.dirname, "mesh-injector.ts")).text();
  const mesh = { name: "mesh", image: images.bun, args: ["/etc/app/mesh-injector.ts", "localhost/envoy:test"] };
  const ebb = {
    name: "ebb",
    image: images.ebb,
    args: ["webhook", "--image", "localhost/ebb:test", "--cert-dir", "/certificates", "--min-drain", "0"],
    readinessProbe: { httpGet: { path: "/readyz", port: 8080 }, periodSeconds: 1 },
  };
  await here.apply([
    configMapOf("mesh", { "mesh-injector.ts": injector }),
    secretFor(["ebb", "mesh"]),
    serving("ebb", ebb, []),
    serving("mesh", { ...mesh, readinessProbe: { tcpSocket: { port: 8443 }, periodSeconds: 1 } }, [
      { name: "program", configMap: { name: "mesh" } },
    ]),
    serviceOf("ebb", { https: 8443 }),
    serviceOf("mesh", { https: 8443 }),
  ]);
  await Promise.all(["ebb", "mesh"].map(ready));
  // asked in the order of their names: ebb before the mesh
  await register("a-ebb", "ebb", "IfNeeded");
  await here.until("pods are changed", async () => JSON.stringify(await dryRun(asking())).includes("ebb-install"));
}, 300_000);

afterAll(async () => {
  for (const name of ["a-ebb", "b-mesh"]) await unregister(name);
  await here?.[Symbol.asyncDispose]();
}, 120_000);

describe("the API server", () => {
  test("takes the patch: a pod that asks for it has ebb, one that does not is as it was", async () => {
    const { spec } = await dryRun(asking());
    expect(spec.initContainers?.map(({ name }) => name)).toEqual(["ebb-install"]);
    expect(spec.containers[0]?.command?.slice(-2)).toEqual(["--", "/app"]);
    expect((await dryRun(podOf("plain", app))).spec.containers[0]?.command).toEqual(["/app"]);
  });

  test("shows warnings", async () => {
    const { code, stderr } = await create(asking({}, { "ebb.dev/dran": "40s" }));
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(/^Warning: ebb: .*ebb\.dev\/dran/m) });
  });

  test("says why a pod is refused, and a Job's events do, too", async () => {
    const wrong = { "ebb.dev/drain": "soon" };
    const { code, stderr } = await create(asking({}, wrong));
    expect(code).toBe(1);
    expect(stderr).toContain(
      '"ebb.ebb.dev" denied the request: ebb cannot be put into this pod: metadata.annotations[ebb.dev/drain]',
    );
    const metadata = { labels: { app: "job" }, annotations: { ...annotations, ...wrong } };
    const template = { metadata, spec: { restartPolicy: "Never", ...app } };
    await here.apply([{ apiVersion: "batch/v1", kind: "Job", metadata: { name: "job" }, spec: { template } }]);
    const described = () => here.kubectl("describe", "job", "job");
    await here.until("it is said", async () => (await described()).includes("ebb cannot be put into this pod"));
  });

  test("does not lose a number that JavaScript cannot hold", async () => {
    const tolerations = [{ key: "x", effect: "NoExecute", tolerationSeconds: "NUMBER" }];
    const manifest = JSON.stringify(asking({ tolerations })).replace('"NUMBER"', "9007199254740993");
    const { stdout } = await create(manifest);
    expect(stdout).toContain("9007199254740993");
    expect(stdout).toContain("ebb-install");
  });

  test("asks again after the mesh has put its sidecar in, and what ebb then adds is all there", async () => {
    const before = await decisions();
    await register("b-mesh", "mesh", "Never");
    const made = () => dryRun(asking({ restartPolicy: "Always" }));
    const { spec } = await here.until("the mesh's sidecar is there", async () => {
      const pod = await made();
      return pod.spec.containers.length === 2 && pod;
    });
    const [first, sidecar] = spec.containers as readonly [Container, Container];
    expect(first.command?.filter((word) => word === "--")).toHaveLength(1);
    expect(first.command?.at(-1)).toBe("/app");
    expect(sidecar).toMatchObject({ name: "envoy", args: ["-c", "/etc/envoy/envoy.yaml"] });
    expect(sidecar.command).toBeUndefined();
    // it must outlive the app: its hook is ebb's second look
    expect(JSON.stringify(sidecar.lifecycle)).toContain('"/ebb.dev/ebb","hold"');
    expect(spec.initContainers?.map(({ name }) => name)).toEqual(["ebb-install"]);
    expect((await decisions()) - before).toBeGreaterThanOrEqual(2);
    await unregister("b-mesh");
  });

  test("lets pods pass while nobody answers, as failurePolicy has it, and changes them again afterwards", async () => {
    await here.kubectl("scale", "deployment/ebb", "--replicas=0");
    await here.until("it is gone", async () => (await here.pods("app=ebb")).length === 0);
    expect((await dryRun(asking())).spec.containers[0]?.command).toEqual(["/app"]);
    await here.kubectl("scale", "deployment/ebb", "--replicas=1");
    await ready("ebb");
    await here.until("pods are changed", async () => JSON.stringify(await dryRun(asking())).includes("ebb-install"));
  }, 300_000);
});

const annotations = { "ebb.dev/inject": "true" };
const app: PodSpec = { containers: [{ name: "app", image: "localhost/app:test", command: ["/app"] }] };

function asking(more: object = {}, moreAnnotations: Readonly<Record<string, string>> = {}): KubeObject {
  return podOf("web", { ...app, ...more }, { annotations: { ...annotations, ...moreAnnotations } });
}

function create(manifest: KubeObject | string): Promise<Output> {
  const stdin = typeof manifest === "string" ? manifest : JSON.stringify(manifest);
  return here.tryKubectl(["create", "--dry-run=server", "-o", "json", "-f", "-"], { stdin });
}

/** The pod as it would be. */
async function dryRun(manifest: KubeObject): Promise<Pod> {
  const { code, stdout, stderr } = await create(manifest);
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as Pod;
}

function serving(name: string, container: Container, volumes: readonly object[]): KubeObject {
  const mounts = [
    { name: "certificates", mountPath: "/certificates" },
    ...volumes.map(() => ({ name: "program", mountPath: "/etc/app" })),
  ];
  return deploymentOf(name, {
    terminationGracePeriodSeconds: 5,
    containers: [{ ...container, volumeMounts: mounts }],
    volumes: [{ name: "certificates", secret: { secretName: "certificates" } }, ...volumes],
  });
}

function secretFor(services: readonly string[]): KubeObject {
  const { cert, key } = issueServing(
    services.map((name) => `${name}.${here.name}.svc`),
    life,
    authority,
  );
  const stringData = { "tls.crt": cert, "tls.key": key };
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "certificates" },
    type: "kubernetes.io/tls",
    stringData,
  };
}

async function ready(name: string): Promise<void> {
  await here.until(`${name} is ready`, async () => {
    const pods = await here.pods(`app=${name}`);
    return pods.length > 0 && pods.every((pod) => hasCondition(pod, "Ready"));
  });
}

/** For this namespace alone. */
async function register(order: string, service: string, reinvocationPolicy: string): Promise<void> {
  const clientConfig = {
    service: { namespace: here.name, name: service, path: "/mutate", port: 8443 },
    caBundle: Buffer.from(authority.cert).toString("base64"),
  };
  const webhook = {
    name: `${service}.ebb.dev`,
    admissionReviewVersions: ["v1"],
    sideEffects: "None",
    failurePolicy: "Ignore",
    reinvocationPolicy,
    clientConfig,
    namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": here.name } },
    objectSelector: { matchExpressions: [{ key: "app", operator: "NotIn", values: ["ebb", "mesh"] }] },
    rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"] }],
  };
  const registration = {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "MutatingWebhookConfiguration",
    metadata: { name: `${order}-${here.name}` },
    webhooks: [webhook],
  };
  const { code, stderr } = await tryKubectl(["apply", "-f", "-"], { stdin: JSON.stringify(registration) });
  if (code !== 0) throw new Error(stderr);
}

async function unregister(order: string): Promise<void> {
  const name = `${order}-${here?.name}`;
  await tryKubectl(["delete", "--ignore-not-found", "mutatingwebhookconfiguration", name]);
}

/** How many pods the webhook has changed. */
async function decisions(): Promise<number> {
  const [pod] = await here.pods("app=ebb");
  const path = `/api/v1/namespaces/${here.name}/pods/${pod?.metadata.name}:8080/proxy/metrics`;
  const { text } = await request("GET", path);
  return Number(/^ebb_webhook_requests_total\{result="injected"\} (\d+)$/m.exec(text)?.[1]);
}
