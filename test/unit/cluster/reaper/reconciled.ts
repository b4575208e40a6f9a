import type { KubeObject } from "../../../../src/cluster/api/client.ts";
import type { Attempts } from "../../../../src/cluster/reaper/attempts.ts";
import type { Outcome } from "../../../../src/cluster/reaper/core/reconcile.ts";
import { podRefOf } from "../../../../src/cluster/reaper/methods/target.ts";
import { createReaperMetrics } from "../../../../src/cluster/reaper/reaper-metrics.ts";
import { createReconciler, type Memory } from "../../../../src/cluster/reaper/reconciler.ts";
import { until } from "../../../harness.ts";
import { collectLog } from "../collect-log.ts";
import { ended, podOf, policy, running } from "./core/stuck-pods.ts";

export const LONG_MS = 30_000;

export interface Given {
  readonly concurrency?: number;
  readonly isDryRun?: boolean;
  /** The value of --after, in ms. */
  readonly afterMs?: number;
}

/**
 * Runs a reconciler, whose attempts end only by `finish` or `end`. The result has what it has begun and logged, and
 * functions that change the pods.
 */
export function reconcile({ concurrency = 10, isDryRun = false, afterMs = 0 }: Given = {}) {
  const pods = new Map<string, KubeObject>();
  const begun: string[] = [];
  const underWay = new Map<string, (outcome: Outcome) => void>();
  const memory: Memory = new Map();
  const stuck = new Set<string>();
  const attempts: Attempts = {
    get size() {
      return stuck.size;
    },
    has: (uid) => stuck.has(uid),
    begin: (pod) => void stuck.add(podRefOf(pod).uid),
    changed: () => undefined,
    step(uid) {
      begun.push(uid);
      if (underWay.has(uid)) throw new Error(`${uid} is under way twice`);
      const { promise, resolve } = Promise.withResolvers<Outcome>();
      underWay.set(uid, (outcome) => {
        underWay.delete(uid);
        stuck.delete(uid);
        resolve(outcome);
      });
      return promise;
    },
  };
  const idle = { depth: () => 0, underWay: () => 0, missingRights: () => 0, syncedAt: () => 0 };
  const log = collectLog();
  const reconciler = createReconciler({
    source: { get: (uid) => pods.get(uid), all: () => pods.values() },
    attempts,
    userErrors: { update: () => undefined, remove: () => undefined },
    metrics: createReaperMetrics("1", idle),
    policy: () => ({ ...policy, afterMs }),
    memory,
    concurrency,
    isDryRun,
    log,
  });
  const stop = new AbortController();
  const run = reconciler.run(stop.signal);
  return {
    begun,
    underWay,
    memory,
    log,
    depth: () => reconciler.depth(),
    put(uid: string, app = ended(0, -0.001)) {
      const pod = podOf({ containers: { app, envoy: running }, metadata: { uid, name: uid } });
      pods.set(uid, pod as unknown as KubeObject);
      reconciler.changed(pod as unknown as KubeObject, false);
    },
    remove(uid: string) {
      const pod = pods.get(uid);
      pods.delete(uid);
      if (pod !== undefined) reconciler.changed(pod, true);
    },
    finish(uid: string, outcome: Outcome = { kind: "ended", requests: [] }) {
      underWay.get(uid)?.(outcome);
    },
    async end() {
      stop.abort();
      for (const finish of underWay.values()) finish({ kind: "gone" });
      await run;
    },
  };
}

/** Resolves once the reconciler has begun `count` attempts. */
export const begins = (reconciler: ReturnType<typeof reconcile>, count: number) =>
  until(`${count} begun`, () => reconciler.begun.length >= count || undefined, LONG_MS);
