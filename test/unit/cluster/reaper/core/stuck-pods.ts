import type { Pod } from "../../../../../src/cluster/api/core/objects.ts";
import { methodKinds } from "../../../../../src/cluster/reaper/core/methods.ts";
import type { ReaperMemory } from "../../../../../src/cluster/reaper/core/pod-rules.ts";
import type { ReapPolicy } from "../../../../../src/cluster/reaper/core/policy.ts";

/** The JSON of a pod, a container or its state. */
export type Json = Record<string, unknown>;

/** The present of these tests, in ms since 1970. */
export const now = Date.parse("2026-03-04T12:00:00Z");

/** Returns the time that is that long before `now`, as Kubernetes writes it. */
export function ago(seconds: number): string {
  return new Date(now - seconds * 1000).toISOString().replace(".000Z", "Z");
}

export const running: Json = { running: { startedAt: ago(100) } };
export const nothing: Json = {};

/** Returns the state of a container that waits for that reason. */
export function waiting(reason: string): Json {
  return { waiting: { reason } };
}

/** Returns the state of a container that has ended. */
export function ended(exitCode: number, secondsAgo = 60, reason = exitCode === 0 ? "Completed" : "Error"): Json {
  return { terminated: { exitCode, reason, startedAt: ago(100), finishedAt: ago(secondsAgo) } };
}

/** Containers by name: each its state or, as `state` and `spec`, its state and more of its manifest. */
export type Containers = Readonly<Record<string, Json | { readonly state: Json; readonly spec: Json }>>;

/** The parts of a pod; `metadata`, `spec` and `status` add fields or replace those made of the other parts. */
export interface PodInWords {
  readonly containers: Containers;
  readonly initContainers?: Containers;
  readonly ephemeralContainers?: Containers;
  readonly metadata?: Json;
  readonly annotations?: Json;
  readonly labels?: Json;
  readonly spec?: Json;
  readonly status?: Json;
}

/** Returns a running pod that chose to be reaped, with restartPolicy Never, unless its parts say otherwise. */
export function podOf({ containers, initContainers = {}, ephemeralContainers = {}, ...more }: PodInWords): Pod & Json {
  const pod: Json = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: "p",
      namespace: "shop",
      uid: "uid-1",
      annotations: { "ebb.dev/reap": "true", ...more.annotations },
      labels: { ...more.labels },
      ...more.metadata,
    },
    spec: {
      restartPolicy: "Never",
      containers: specsOf(containers),
      initContainers: specsOf(initContainers),
      ephemeralContainers: specsOf(ephemeralContainers),
      ...more.spec,
    },
    status: {
      phase: "Running",
      containerStatuses: statusesOf(containers),
      initContainerStatuses: statusesOf(initContainers),
      ephemeralContainerStatuses: statusesOf(ephemeralContainers),
      ...more.status,
    },
  };
  return pod as Pod & Json;
}

function specsOf(containers: Containers): readonly Json[] {
  return Object.entries(containers).map(([name, each]) => ({
    name,
    image: "i",
    ...("spec" in each ? (each.spec as Json) : {}),
  }));
}

function statusesOf(containers: Containers): readonly Json[] {
  return Object.entries(containers).map(([name, each]) => ({
    name,
    restartCount: 0,
    state: "spec" in each ? each.state : each,
  }));
}

export const policy: ReapPolicy = {
  ...{ afterMs: 5000, allJobs: false, methods: methodKinds, namespaces: new Map(), allowsReapExec: true },
};

export const known: ReaperMemory = { now };

export const ofJob: Json = {
  ownerReferences: [{ apiVersion: "batch/v1", kind: "Job", name: "migrate", uid: "j", controller: true }],
};
