// The pods of benches in clusters of which only the API server runs.
import { randomUUID } from "node:crypto";
import type { ApiClient } from "../../../src/cluster/api/client.ts";
import { NODE, PODS, STARTED_AT, setStatus, statusOf } from "./stand-in-kubelet.ts";

/** Returns `count` names that begin with `prefix`. */
export function namesOf(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, at) => `${prefix}-${at}`);
}

/** Returns the metadata of a Job's pod, as the Job's controller sets it. */
export function ofJob(name: string): object {
  const owner = { apiVersion: "batch/v1", kind: "Job", name, uid: randomUUID(), controller: true };
  return { labels: { "batch.kubernetes.io/job-name": name }, ownerReferences: [owner] };
}

/** Creates a running pod of an app and a sidecar, as long as a usual manifest makes it. */
export async function createPod(api: ApiClient, name: string, metadata: object): Promise<void> {
  const env = Array.from({ length: 20 }, (_, at) => ({ name: `VARIABLE_${at}`, value: `the value of number ${at}` }));
  const httpGet = { path: "/healthz", port: 8080 };
  const common = {
    env,
    resources: { requests: { cpu: "100m", memory: "64Mi" } },
    volumeMounts: [{ name: "config", mountPath: "/etc/config" }],
    readinessProbe: { httpGet },
    livenessProbe: { httpGet },
  };
  const labels = { "app.kubernetes.io/name": "shop", "app.kubernetes.io/instance": name, tier: "web" };
  await api.create(PODS, {
    metadata: { labels, ...metadata, name, annotations: { "checksum/config": "0123456789abcdef".repeat(4) } },
    spec: {
      nodeName: NODE,
      restartPolicy: "Never",
      automountServiceAccountToken: false,
      containers: [
        { ...common, name: "app", image: "registry.example.com/team/app:1.2.3" },
        { ...common, name: "envoy", image: "envoyproxy/envoy:v1.36.0" },
      ],
      volumes: [{ name: "config", configMap: { name: "config" } }],
    },
  });
  await setStatus(api, name, statusOf("all", STARTED_AT));
}

/** Changes a pod's status, as a probe does. */
export async function changePod(api: ApiClient, name: string): Promise<void> {
  const condition = { type: "Ready", status: "True", lastTransitionTime: new Date().toISOString() };
  await api.patch(`${PODS}/${name}/status`, [{ op: "add", path: "/status/conditions", value: [condition] }]);
}

/** Writes that a pod's app has ended now, to the second, as a kubelet does; its sidecar runs. */
export async function endApp(api: ApiClient, name: string): Promise<void> {
  await setStatus(api, name, statusOf("sidecar", new Date().toISOString().replace(/\.\d+/, "")));
}
