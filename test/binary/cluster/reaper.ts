import { writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  ebb,
  type LogLine,
  logOf,
  type Started,
  type StartOptions,
  startEbb,
  temporaryFolder,
  until,
} from "../../harness/ebb.ts";
import { podPath, refuse, type StandInApi, startStandInApi } from "../../stand-in/api-server/api-server.ts";
import { limitedTo } from "./limited.ts";

/** A stand-in API server with pods as JSON, whose sidecars end when an ephemeral container is put into their pod. */
export interface Cluster extends AsyncDisposable {
  readonly api: StandInApi;
  /** The flags with which ebb finds it. */
  readonly flags: readonly string[];
  /** The names of the pods into which an ephemeral container was put, in order. */
  readonly told: string[];
  /** Called when one was put into a pod; `end` ends the pod's sidecars. By default they end at once. */
  onTold: (name: string, end: () => void) => void;
  /** Adds or replaces a pod, by its name, in the namespace `shop`. */
  put(pod: object): void;
  pod(name: string): Json;
  /** Returns the Events that were written. */
  events(): readonly Json[];
}

// biome-ignore lint/suspicious/noExplicitAny: what a test writes, and reads back
export type Json = any;

export const imageFlags = ["--image", "registry.example.com/ebb:1", "--methods", "ephemeral"];

/** Starts such a cluster, without pods. */
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

/** Ends all running containers of a pod, and the pod. */
export function end(cluster: Cluster, name: string): void {
  const pod = structuredClone(cluster.pod(name));
  const state = { terminated: { exitCode: 0, reason: "Completed", finishedAt: new Date().toISOString() } };
  for (const each of pod.status.containerStatuses) if (each.state.running) each.state = state;
  pod.status.phase = "Succeeded";
  cluster.put(pod);
}

/**
 * Returns a pod of a Job whose app has ended, 60 s ago and with 0 unless `changes` say otherwise, and whose Envoy runs.
 */
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

/** Runs `ebb reaper --once` to its end. */
export function once(cluster: Cluster, ...flags: readonly string[]) {
  return ebb(["reaper", "--once", ...cluster.flags, ...flags]);
}

export interface Reaper extends AsyncDisposable {
  readonly started: Started;
  /** The address of its probes and metrics: `http://127.0.0.1:PORT`. */
  readonly health: string;
  /** Returns the lines of its log so far whose message is `ebb: ` and `msg`. */
  said(msg: string): readonly LogLine[];
}

const LONG_MS = 60_000;

/** Starts `ebb reaper` as its Deployment does. Resolves once it answers probes. */
export function startReaper(cluster: Cluster, ...flags: readonly string[]): Promise<Reaper> {
  return startWith({}, cluster, ...flags);
}

/** Starts it from source, and lists all pods again each second. Resolves once it answers probes. */
export function startResyncing(cluster: Cluster, ...flags: readonly string[]): Promise<Reaper> {
  return startWith(limitedTo({ resync: 1000 }), cluster, ...flags);
}

async function startWith(options: StartOptions, cluster: Cluster, ...flags: readonly string[]): Promise<Reaper> {
  const started = startEbb(["reaper", ...cluster.flags, "--health-listen", "127.0.0.1:0", ...flags], options);
  const lines = () => logOf(started.stderr().slice(0, started.stderr().lastIndexOf("\n") + 1));
  const said = (msg: string) => lines().filter((line) => line.msg === `ebb: ${msg}`);
  const [line] = await until("it answers probes", () => nonEmpty(said("serving probes and metrics")), LONG_MS);
  return {
    started,
    health: `http://127.0.0.1:${line?.port}`,
    said,
    [Symbol.asyncDispose]: () => started[Symbol.asyncDispose](),
  };
}

/** Returns the items, or undefined if there are none. */
export function nonEmpty<T>(items: readonly T[]): readonly T[] | undefined {
  return items.length === 0 ? undefined : items;
}
