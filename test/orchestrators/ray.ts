import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import type { Namespace } from "../cluster/cluster.ts";
import type { KubeObject } from "../cluster/objects.ts";
import { compiledProgram } from "../sidecars/compile.ts";
import { define } from "./definitions.ts";
import { images, outsideMesh } from "./mesh.ts";

const operator = "kuberay-operator";

/** A job that KubeRay's operator has Ray do. */
interface RayJob extends KubeObject {
  readonly status?: {
    readonly jobStatus?: string;
    readonly jobDeploymentStatus?: string;
    readonly rayClusterName?: string;
    readonly message?: string;
  };
}

/**
 * Installs KubeRay's operator in a namespace, for that alone, with its own definitions and rules. It has neither a sidecar nor
 * ebb, and asks Ray through the API server, because there is no DNS here.
 */
export async function startKubeRay(here: Namespace): Promise<void> {
  const { file } = compiledProgram("kuberay");
  const files = readdirSync(file("bases")).flatMap((name) => ["-f", join(file("bases"), name)]);
  await define(files);
  const role = { ...(parse(readFileSync(file("role.yaml"), "utf8")) as KubeObject), kind: "Role" };
  const subject = { kind: "ServiceAccount", name: operator, namespace: here.name };
  await here.apply([
    { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: operator } },
    role,
    {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "RoleBinding",
      metadata: { name: operator },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: role.metadata.name },
      subjects: [subject],
    },
    outsideMesh(operator, {
      serviceAccountName: operator,
      securityContext: { runAsNonRoot: true, runAsUser: 65532 },
      containers: [
        {
          name: operator,
          image: images.kuberay,
          args: ["--watch-namespace", here.name, "--use-kubernetes-proxy"],
          readinessProbe: { httpGet: { path: "/metrics", port: 8080 } },
          resources: { requests: { cpu: "100m" } },
        },
      ],
    }),
  ]);
  await here.kubectl("rollout", "status", `deployment/${operator}`, "--timeout=120s");
}

/** Returns what the operator wants of a cluster: a head, and workers of one processor each; without workers the head computes. */
export function clusterSpec(annotations: Readonly<Record<string, string>>, workers: number, pod: object = {}): object {
  const templateOf = (name: string) => ({
    metadata: { annotations },
    spec: { ...pod, containers: [{ name, image: images.ray }] },
  });
  const memory = { "object-store-memory": "100000000" }; // at least 75 MB; by default a share of the node's
  const worker = {
    groupName: "small",
    ...{ replicas: workers, minReplicas: workers, maxReplicas: workers },
    rayStartParams: { ...memory, "num-cpus": "1" },
    template: templateOf("ray-worker"),
  };
  return {
    rayVersion: "2.60.0",
    headGroupSpec: {
      rayStartParams: { ...memory, "num-cpus": workers === 0 ? "1" : "0" },
      template: templateOf("ray-head"),
    },
    workerGroupSpecs: workers === 0 ? [] : [worker],
  };
}

/**
 * Creates the Service of a cluster's head, which the operator finds by its labels, and resolves with what its pods need to find
 * its address by the name that the operator gives them.
 */
export async function headService(here: Namespace, cluster: string): Promise<object> {
  const labels = {
    "ray.io/cluster": cluster,
    "ray.io/node-type": "head",
    "ray.io/identifier": `${cluster}-head`,
  };
  const name = `${cluster}-head-svc`;
  const ports = { client: 10001, dashboard: 8265, "gcs-server": 6379, metrics: 8080 };
  const portList = Object.entries(ports).map(([port, number]) => ({ name: port, port: number, appProtocol: "tcp" }));
  const spec = { selector: labels, ports: portList, publishNotReadyAddresses: true };
  await here.apply([{ apiVersion: "v1", kind: "Service", metadata: { name, labels }, spec }]);
  const made = await here.object<{ spec: { clusterIP: string } }>(`service/${name}`);
  return { hostAliases: [{ ip: made.spec.clusterIP, hostnames: [`${name}.${here.name}.svc.cluster.local`] }] };
}

/** Waits until a job has ended, and resolves with it. */
export function endedRayJob(here: Namespace, name: string): Promise<RayJob> {
  return rayJobIn(here, name, /^(Complete|Failed|ValidationFailed)$/, "has ended");
}

/** Waits until the operator has seen a job's cluster ready, and follows the job. */
export function followedRayJob(here: Namespace, name: string): Promise<RayJob> {
  return rayJobIn(here, name, /^Running$/, "is followed");
}

async function rayJobIn(here: Namespace, name: string, state: RegExp, what: string): Promise<RayJob> {
  return await here.until(
    `the RayJob ${name} ${what}`,
    async () => {
      const job = await here.object<RayJob>(`rayjob/${name}`);
      return state.test(job.status?.jobDeploymentStatus ?? "") && job;
    },
    240_000,
  );
}
