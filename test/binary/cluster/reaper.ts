import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ebb, type LogLine, logOf, type Started, startEbb, temporaryFolder, until } from "../../harness.ts";
import { podPath, refuse, type StandInApi, startStandInApi } from "../../kube/api-server/api-server.ts";

/** A cluster whose pods are JSON: a stand-in API server, and a kubelet that does as it is told. */
export interface Cluster extends AsyncDisposable {
  readonly api: StandInApi;
  readonly flags: readonly string[];
  /** Pods into which an ephemeral container was put, in order. */
  readonly told: string[];
  /** What its sidecars do then; they end, unless it says otherwise. */
  onTold: (name: string, end: () => void) => void;
  put(pod: object): void;
  pod(name: string): Json;
  events(): readonly Json[];
}

// biome-ignore lint/suspicious/noExplicitAny: what a test writes, and reads back
export type Json = any;

export const imageFlags = ["--image", "registry.example.com/ebb:1", "--methods", "ephemeral"];

export function startCluster(): Cluster {
  const api = startStandInApi();
  const folder = temporaryFolder();
  const kubeconfig = join(folder.path, "config");
  writeFileSync(
    kubeconfig,
    JSON.stringify({
      clusters: [{ name: "c", cluster: { server: api.url } }],
      users: [{ name: "u", user: { token: "t" } }],
      contexts: [{ name: "x", context: { cluster: "c", user: "u", namespace: "ebb" } }],
      "current-context": "x",
    }),
  );
  const told: string[] = [];
  const cluster: Cluster = {
    api,
    told,
    flags: ["--kubeconfig", kubeconfig, ...imageFlags],
    onTold: (_, end) => end(),
    put: (pod) => api.put(podPath("shop", (pod as Json).metadata.name), pod),
    pod: (name) => api.objects.get(podPath("shop", name)),
    events: () => [...api.objects].filter(([path]) => path.includes("/events/")).map(([, event]) => event),
    async [Symbol.asyncDispose]() {
      folder[Symbol.dispose]();
      await api[Symbol.asyncDispose]();
    },
  };
  api.answer = async (request) => {
    const [, name] = /\/pods\/([^/]+)\/ephemeralcontainers$/.exec(new URL(request.url).pathname) ?? [];
    if (name === undefined || request.method !== "PATCH") return undefined;
    const pod = cluster.pod(name);
    const operations: Json = await request.json();
    const test = operations.find((each: Json) => each.path === "/metadata/uid");
    if (test?.value !== pod?.metadata.uid) return refuse(422, "the request is invalid");
    const added = operations.find((each: Json) => each.path.startsWith("/spec/ephemeralContainers"));
    const ephemeralContainers = [...(pod.spec.ephemeralContainers ?? []), ...[added.value].flat()];
    cluster.put({ ...pod, spec: { ...pod.spec, ephemeralContainers } });
    told.push(name);
    cluster.onTold(name, () => end(cluster, name));
    return Response.json(cluster.pod(name));
  };
  return cluster;
}

/** All its sidecars end. */
export function end(cluster: Cluster, name: string): void {
  const pod = structuredClone(cluster.pod(name));
  const state = { terminated: { exitCode: 0, reason: "Completed", finishedAt: new Date().toISOString() } };
  for (const each of pod.status.containerStatuses) if (each.state.running) each.state = state;
  pod.status.phase = "Succeeded";
  cluster.put(pod);
}

/** A pod of a Job whose app has ended, and whose Envoy has not. */
export function stuckPod(name: string, changes: Json = {}): Json {
  const { annotations = { "ebb.dev/reap": "true" }, secondsAgo = 60, exitCode = 0, state } = changes;
  const finishedAt = new Date(Date.now() - secondsAgo * 1000).toISOString().replace(/\.\d+Z/, "Z");
  const app = state ?? { terminated: { exitCode, reason: exitCode === 0 ? "Completed" : "Error", finishedAt } };
  return {
    metadata: {
      ...{ name, namespace: "shop", uid: changes.uid ?? `uid-${name}`, annotations },
      ownerReferences: [{ apiVersion: "batch/v1", kind: "Job", name: `job-${name}`, controller: true, uid: "j" }],
    },
    spec: {
      restartPolicy: "Never",
      containers: [
        { name: "app", image: "app:1" },
        { name: "envoy", image: "envoyproxy/envoy:v1" },
      ],
    },
    status: {
      phase: "Running",
      containerStatuses: [
        { name: "app", state: app },
        { name: "envoy", state: { running: { startedAt: finishedAt } } },
      ],
    },
  };
}

export const running: Json = { running: { startedAt: "2026-01-01T00:00:00Z" } };

export function once(cluster: Cluster, ...flags: readonly string[]) {
  return ebb(["reaper", "--once", ...cluster.flags, ...flags]);
}

export interface Reaper extends AsyncDisposable {
  readonly started: Started;
  readonly health: string;
  said(msg: string): readonly LogLine[];
}

const LONG_MS = 60_000;

/** `ebb reaper` in its Deployment, once it answers probes. */
export async function startReaper(cluster: Cluster, ...flags: readonly string[]): Promise<Reaper> {
  const started = startEbb(["reaper", ...cluster.flags, "--health-listen", "127.0.0.1:0", ...flags]);
  const lines = () => logOf(started.stderr().slice(0, started.stderr().lastIndexOf("\n") + 1));
  const said = (msg: string) => lines().filter((line) => line.msg === `ebb: ${msg}`);
  const [line] = await until("it answers probes", () => nonEmpty(said("answering probes")), LONG_MS);
  return {
    started,
    health: `http://127.0.0.1:${line?.port}`,
    said,
    [Symbol.asyncDispose]: () => started[Symbol.asyncDispose](),
  };
}

export function nonEmpty<T>(items: readonly T[]): readonly T[] | undefined {
  return items.length === 0 ? undefined : items;
}
