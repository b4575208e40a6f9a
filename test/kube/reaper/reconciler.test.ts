import { expect, test } from "bun:test";
import type { Outcome } from "../../../src/core/reap/attempt-steps.ts";
import type { KubeObject } from "../../../src/kube/api/client.ts";
import type { Attempts } from "../../../src/kube/reaper/attempts.ts";
import { nameOf } from "../../../src/kube/reaper/pods.ts";
import { createReaperMetrics } from "../../../src/kube/reaper/reaper-metrics.ts";
import { createReconciler, emptyMemory } from "../../../src/kube/reaper/reconciler.ts";
import { ended, podOf, policy, running } from "../../core/reap/stuck-pods.ts";
import { until } from "../../harness.ts";
import { never, takes } from "../../time.ts";
import { collectLog } from "../collect-log.ts";

const LONG_MS = 30_000;

interface Given {
  readonly concurrency?: number;
  readonly isDryRun?: boolean;
  /** How long ago the replica before told this pod's sidecar, in milliseconds. */
  readonly toldMsAgo?: number;
  /** How long that takes to be found. */
  readonly askMs?: number;
  readonly afterMs?: number;
}

/** A reconciler that leads, over attempts that end when they are told to. */
function lead({ concurrency = 10, isDryRun = false, toldMsAgo, askMs = 0, afterMs = 0 }: Given = {}) {
  const pods = new Map<string, KubeObject>();
  const begun: string[] = [];
  const underWay = new Map<string, (outcome: Outcome) => void>();
  const asked: string[] = [];
  const memory = emptyMemory();
  const attempts: Attempts = {
    get underWay() {
      return underWay.size;
    },
    isUnderWay: (uid) => underWay.has(uid),
    changed: () => undefined,
    make(pod) {
      const { uid } = nameOf(pod);
      begun.push(uid);
      const { promise, resolve } = Promise.withResolvers<Outcome>();
      underWay.set(uid, (outcome) => {
        underWay.delete(uid);
        resolve(outcome);
      });
      return promise;
    },
  };
  const idle = {
    leads: () => true,
    isCircuitOpen: () => false,
    depth: () => 0,
    underWay: () => 0,
    missingRights: () => 0,
    syncedAt: () => 0,
  };
  const log = collectLog();
  const reconciler = createReconciler({
    source: pods,
    attempts,
    events: {
      write: async () => undefined,
      async lastTold({ uid }) {
        asked.push(uid);
        await takes(askMs);
        return toldMsAgo === undefined ? undefined : Date.now() - toldMsAgo;
      },
    },
    complaints: { judged: () => undefined, lead: () => undefined, forgot: () => undefined },
    metrics: createReaperMetrics("1", idle),
    policy: () => ({ ...policy, afterMs }),
    memory,
    concurrency,
    isDryRun,
    log,
  });
  const stop = new AbortController();
  const judging = reconciler.judge(stop.signal);
  let acting = Promise.resolve();
  return {
    begun,
    underWay,
    asked,
    memory,
    log,
    depth: () => reconciler.depth,
    act: () => {
      acting = reconciler.act(stop.signal);
    },
    put(uid: string, app = ended(0, -0.001)) {
      const pod = podOf({ containers: { app, envoy: running }, metadata: { uid, name: uid } });
      pods.set(uid, pod as unknown as KubeObject);
      reconciler.changed({ uid, name: uid, namespace: "shop", pod: pods.get(uid) });
    },
    remove(uid: string) {
      pods.delete(uid);
      reconciler.changed({ uid, name: uid, namespace: "shop", pod: undefined });
    },
    finish(uid: string, outcome: Outcome = { kind: "ended", acts: [] }) {
      underWay.get(uid)?.(outcome);
    },
    async end() {
      stop.abort();
      for (const finish of underWay.values()) finish({ kind: "stopped" });
      await Promise.all([judging, acting]);
    },
  };
}

const begins = (reconciler: ReturnType<typeof lead>, count: number) =>
  until(`${count} begun`, () => reconciler.begun.length >= count || undefined, LONG_MS);

test("one who does not lead acts on nothing, and sees to all of it once it leads, in order", async () => {
  const reconciler = lead({ concurrency: 1 });
  for (const uid of ["a", "b", "c"]) reconciler.put(uid);
  await never("one is begun", () => reconciler.begun.length > 0, 50);
  reconciler.act();
  for (const [at, uid] of ["a", "b", "c"].entries()) {
    await begins(reconciler, at + 1);
    reconciler.finish(uid);
  }
  expect(reconciler.begun).toEqual(["a", "b", "c"]);
  await reconciler.end();
});

test("no more are under way than --concurrency allows, none twice, however often it changes", async () => {
  const reconciler = lead({ concurrency: 3 });
  reconciler.act();
  for (let at = 0; at < 9; at += 1) reconciler.put(`p${at}`);
  await begins(reconciler, 3);
  for (let at = 0; at < 9; at += 1) reconciler.put(`p${at}`);
  await never("another is begun", () => reconciler.begun.length > 3, 50);
  expect([...reconciler.underWay.keys()]).toEqual(["p0", "p1", "p2"]);
  reconciler.finish("p1");
  await begins(reconciler, 4);
  expect([...reconciler.underWay.keys()]).toEqual(["p0", "p2", "p3"]);
  await reconciler.end();
});

test("one that changes while it is dealt with is not begun a second time beside that", async () => {
  const reconciler = lead();
  reconciler.act();
  reconciler.put("a");
  await begins(reconciler, 1);
  reconciler.put("a");
  reconciler.put("b");
  await begins(reconciler, 2);
  expect(reconciler.begun).toEqual(["a", "b"]);
  await reconciler.end();
});

test("one that is not stuck any more does not wait for its turn", async () => {
  const reconciler = lead();
  reconciler.put("a");
  expect(reconciler.depth()).toBe(1);
  reconciler.put("a", running);
  expect(reconciler.depth()).toBe(0);
  await reconciler.end();
});

test.each([
  ["ended", { kind: "ended", acts: [] }],
  ["given up", { kind: "gave-up", reason: "it does not go", tried: [] }],
] as const)("a pod that was %s is not begun anew, and is forgotten when it is deleted", async (_, outcome) => {
  const reconciler = lead();
  reconciler.act();
  reconciler.put("a");
  await begins(reconciler, 1);
  reconciler.finish("a", outcome);
  await until("it is done", () => reconciler.memory.handled.has("a") || undefined, LONG_MS);
  reconciler.put("a");
  reconciler.put("b");
  await begins(reconciler, 2);
  expect(reconciler.begun).toEqual(["a", "b"]);
  reconciler.remove("a");
  expect(reconciler.memory.handled.size).toBe(0);
  await reconciler.end();
});

test("what is deleted while it is dealt with leaves nothing behind", async () => {
  const reconciler = lead();
  reconciler.act();
  reconciler.put("a");
  await begins(reconciler, 1);
  reconciler.remove("a");
  reconciler.finish("a");
  await until("it is over", () => reconciler.underWay.size === 0 || undefined, LONG_MS);
  const sizes = () => [...Object.values(reconciler.memory).map(({ size }) => size), reconciler.depth()];
  await until("nothing is left", () => sizes().every((size) => size === 0), LONG_MS);
  await reconciler.end();
});

test.each<Outcome>([
  { kind: "left", reason: "it is not stuck any more" },
  { kind: "put-off", reason: "the kubelet does not answer" },
])("where a fresh look sees no reason to act it rests first, whatever the watch says: %o", async (outcome) => {
  const reconciler = lead();
  reconciler.act();
  reconciler.put("a");
  await begins(reconciler, 1);
  reconciler.finish("a", outcome);
  await until("it is over", () => reconciler.underWay.size === 0 || undefined, LONG_MS);
  for (let at = 0; at < 20; at += 1) reconciler.put("a");
  await never("it is begun anew", () => reconciler.begun.length > 1, 50);
  expect(reconciler.depth()).toBe(1);
  await reconciler.end();
});

test("after an attempt that was stopped the next term begins anew", async () => {
  const reconciler = lead();
  reconciler.act();
  reconciler.put("a");
  await begins(reconciler, 1);
  reconciler.finish("a", { kind: "stopped" });
  await begins(reconciler, 2);
  expect(reconciler.begun).toEqual(["a", "a"]);
  await reconciler.end();
});

test("a sidecar that the replica before has told gets the rest of its time", async () => {
  const reconciler = lead({ toldMsAgo: 1000 });
  reconciler.put("a");
  reconciler.act();
  await until("Events are read", () => reconciler.asked.length > 0 || undefined, LONG_MS);
  await until("it waits", () => reconciler.depth() === 1, LONG_MS);
  reconciler.put("a");
  await never("it is begun, or asked again", () => reconciler.begun.length > 0 || reconciler.asked.length > 1, 50);
  expect({ begun: reconciler.begun, asked: reconciler.asked, depth: reconciler.depth() }).toEqual({
    begun: [],
    asked: ["a"],
    depth: 1,
  });
  await reconciler.end();
});

test("one that was told long ago is told again", async () => {
  const reconciler = lead({ toldMsAgo: 3_600_000 });
  reconciler.put("a");
  reconciler.act();
  await begins(reconciler, 1);
  await reconciler.end();
});

test("a pod whose app has just ended waits for its time", async () => {
  const reconciler = lead({ afterMs: 300 });
  reconciler.act();
  const start = Date.now();
  reconciler.put("a", { terminated: { exitCode: 0, finishedAt: new Date(start).toISOString() } });
  expect(reconciler.begun).toEqual([]);
  await begins(reconciler, 1);
  expect(Date.now() - start).toBeGreaterThanOrEqual(300);
  await reconciler.end();
});

test("so does one whose node's clock is ahead, from when it was first seen", async () => {
  const reconciler = lead({ afterMs: 300 });
  reconciler.act();
  const start = Date.now();
  reconciler.put("a", { terminated: { exitCode: 0, finishedAt: new Date(start + 3_600_000).toISOString() } });
  await begins(reconciler, 1);
  expect(Date.now() - start).toBeGreaterThanOrEqual(300);
  await reconciler.end();
});

test("with --dry-run it says so, once", async () => {
  const reconciler = lead({ isDryRun: true });
  reconciler.act();
  reconciler.put("a");
  await until("it says so", () => reconciler.log.lines.length > 0 || undefined, LONG_MS);
  reconciler.put("a");
  await never("it is said again", () => reconciler.log.lines.length > 1, 50);
  expect(reconciler.log.lines.map(({ message, fields }) => [message, fields.pod])).toEqual([["pod is stuck", "a"]]);
  expect(reconciler.begun).toEqual([]);
  await reconciler.end();
});

test("a pod that changes while its Events are read is taken by one alone", async () => {
  const reconciler = lead({ askMs: 200 });
  reconciler.act();
  reconciler.put("a");
  await until("its Events are asked for", () => reconciler.asked.length > 0, LONG_MS);
  reconciler.put("a");
  await begins(reconciler, 1);
  await never("it is begun, or asked, again", () => reconciler.begun.length > 1 || reconciler.asked.length > 1, 300);
  expect([reconciler.begun, reconciler.asked]).toEqual([["a"], ["a"]]);
  await reconciler.end();
});
