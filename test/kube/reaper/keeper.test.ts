import { expect, test } from "bun:test";
import type { Outcome } from "../../../src/core/reap/attempt.ts";
import type { KubeObject } from "../../../src/kube/api/client.ts";
import type { Attempts } from "../../../src/kube/reaper/attempts.ts";
import { createKeeper, emptyMemory } from "../../../src/kube/reaper/keeper.ts";
import { nameOf } from "../../../src/kube/reaper/pods.ts";
import { createReaperMetrics } from "../../../src/kube/reaper/reaper-metrics.ts";
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

/** A keeper that leads, over attempts that end when they are told to. */
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
  const keeper = createKeeper({
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
  const judging = keeper.judge(stop.signal);
  let acting = Promise.resolve();
  return {
    begun,
    underWay,
    asked,
    memory,
    log,
    depth: () => keeper.depth,
    act: () => {
      acting = keeper.act(stop.signal);
    },
    put(uid: string, app = ended(0, -0.001)) {
      const pod = podOf({ containers: { app, envoy: running }, metadata: { uid, name: uid } });
      pods.set(uid, pod as unknown as KubeObject);
      keeper.changed({ uid, name: uid, namespace: "shop", pod: pods.get(uid) });
    },
    remove(uid: string) {
      pods.delete(uid);
      keeper.changed({ uid, name: uid, namespace: "shop", pod: undefined });
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

const begins = (keeper: ReturnType<typeof lead>, count: number) =>
  until(`${count} begun`, () => keeper.begun.length >= count || undefined, LONG_MS);

test("one who does not lead acts on nothing, and sees to all of it once it leads, in order", async () => {
  const keeper = lead({ concurrency: 1 });
  for (const uid of ["a", "b", "c"]) keeper.put(uid);
  await never("one is begun", () => keeper.begun.length > 0, 50);
  keeper.act();
  for (const [at, uid] of ["a", "b", "c"].entries()) {
    await begins(keeper, at + 1);
    keeper.finish(uid);
  }
  expect(keeper.begun).toEqual(["a", "b", "c"]);
  await keeper.end();
});

test("no more are under way than --concurrency allows, none twice, however often it changes", async () => {
  const keeper = lead({ concurrency: 3 });
  keeper.act();
  for (let at = 0; at < 9; at += 1) keeper.put(`p${at}`);
  await begins(keeper, 3);
  for (let at = 0; at < 9; at += 1) keeper.put(`p${at}`);
  await never("another is begun", () => keeper.begun.length > 3, 50);
  expect([...keeper.underWay.keys()]).toEqual(["p0", "p1", "p2"]);
  keeper.finish("p1");
  await begins(keeper, 4);
  expect([...keeper.underWay.keys()]).toEqual(["p0", "p2", "p3"]);
  await keeper.end();
});

test("one that changes while it is dealt with is not begun a second time beside that", async () => {
  const keeper = lead();
  keeper.act();
  keeper.put("a");
  await begins(keeper, 1);
  keeper.put("a");
  keeper.put("b");
  await begins(keeper, 2);
  expect(keeper.begun).toEqual(["a", "b"]);
  await keeper.end();
});

test("one that is not stuck any more does not wait for its turn", async () => {
  const keeper = lead();
  keeper.put("a");
  expect(keeper.depth()).toBe(1);
  keeper.put("a", running);
  expect(keeper.depth()).toBe(0);
  await keeper.end();
});

test.each([
  ["ended", { kind: "ended", acts: [] }],
  ["given up", { kind: "gave-up", reason: "it does not go", tried: [] }],
] as const)("a pod that was %s is not begun anew, and is forgotten when it is deleted", async (_, outcome) => {
  const keeper = lead();
  keeper.act();
  keeper.put("a");
  await begins(keeper, 1);
  keeper.finish("a", outcome);
  await until("it is done", () => keeper.memory.handled.has("a") || undefined, LONG_MS);
  keeper.put("a");
  keeper.put("b");
  await begins(keeper, 2);
  expect(keeper.begun).toEqual(["a", "b"]);
  keeper.remove("a");
  expect(keeper.memory.handled.size).toBe(0);
  await keeper.end();
});

test("what is deleted while it is dealt with leaves nothing behind", async () => {
  const keeper = lead();
  keeper.act();
  keeper.put("a");
  await begins(keeper, 1);
  keeper.remove("a");
  keeper.finish("a");
  await until("it is over", () => keeper.underWay.size === 0 || undefined, LONG_MS);
  const sizes = () => [...Object.values(keeper.memory).map(({ size }) => size), keeper.depth()];
  await until("nothing is left", () => sizes().every((size) => size === 0), LONG_MS);
  await keeper.end();
});

test.each<Outcome>([
  { kind: "left", reason: "it is not stuck any more" },
  { kind: "put-off", reason: "the kubelet does not answer" },
])("where a fresh look sees no reason to act it rests first, whatever the watch says: %o", async (outcome) => {
  const keeper = lead();
  keeper.act();
  keeper.put("a");
  await begins(keeper, 1);
  keeper.finish("a", outcome);
  await until("it is over", () => keeper.underWay.size === 0 || undefined, LONG_MS);
  for (let at = 0; at < 20; at += 1) keeper.put("a");
  await never("it is begun anew", () => keeper.begun.length > 1, 50);
  expect(keeper.depth()).toBe(1);
  await keeper.end();
});

test("after an attempt that was stopped the next term begins anew", async () => {
  const keeper = lead();
  keeper.act();
  keeper.put("a");
  await begins(keeper, 1);
  keeper.finish("a", { kind: "stopped" });
  await begins(keeper, 2);
  expect(keeper.begun).toEqual(["a", "a"]);
  await keeper.end();
});

test("a sidecar that the replica before has told gets the rest of its time", async () => {
  const keeper = lead({ toldMsAgo: 1000 });
  keeper.put("a");
  keeper.act();
  await until("Events are read", () => keeper.asked.length > 0 || undefined, LONG_MS);
  await until("it waits", () => keeper.depth() === 1, LONG_MS);
  keeper.put("a");
  await never("it is begun, or asked again", () => keeper.begun.length > 0 || keeper.asked.length > 1, 50);
  expect({ begun: keeper.begun, asked: keeper.asked, depth: keeper.depth() }).toEqual({
    begun: [],
    asked: ["a"],
    depth: 1,
  });
  await keeper.end();
});

test("one that was told long ago is told again", async () => {
  const keeper = lead({ toldMsAgo: 3_600_000 });
  keeper.put("a");
  keeper.act();
  await begins(keeper, 1);
  await keeper.end();
});

test("a pod whose app has just ended waits for its time", async () => {
  const keeper = lead({ afterMs: 300 });
  keeper.act();
  const start = Date.now();
  keeper.put("a", { terminated: { exitCode: 0, finishedAt: new Date(start).toISOString() } });
  expect(keeper.begun).toEqual([]);
  await begins(keeper, 1);
  expect(Date.now() - start).toBeGreaterThanOrEqual(300);
  await keeper.end();
});

test("so does one whose node's clock is ahead, from when it was first seen", async () => {
  const keeper = lead({ afterMs: 300 });
  keeper.act();
  const start = Date.now();
  keeper.put("a", { terminated: { exitCode: 0, finishedAt: new Date(start + 3_600_000).toISOString() } });
  await begins(keeper, 1);
  expect(Date.now() - start).toBeGreaterThanOrEqual(300);
  await keeper.end();
});

test("with --dry-run it says so, once", async () => {
  const keeper = lead({ isDryRun: true });
  keeper.act();
  keeper.put("a");
  await until("it says so", () => keeper.log.lines.length > 0 || undefined, LONG_MS);
  keeper.put("a");
  await never("it is said again", () => keeper.log.lines.length > 1, 50);
  expect(keeper.log.lines.map(({ message, fields }) => [message, fields.pod])).toEqual([["pod is stuck", "a"]]);
  expect(keeper.begun).toEqual([]);
  await keeper.end();
});

test("a pod that changes while its Events are read is taken by one alone", async () => {
  const keeper = lead({ askMs: 200 });
  keeper.act();
  keeper.put("a");
  await until("its Events are asked for", () => keeper.asked.length > 0, LONG_MS);
  keeper.put("a");
  await begins(keeper, 1);
  await never("it is begun, or asked, again", () => keeper.begun.length > 1 || keeper.asked.length > 1, 300);
  expect([keeper.begun, keeper.asked]).toEqual([["a"], ["a"]]);
  await keeper.end();
});
