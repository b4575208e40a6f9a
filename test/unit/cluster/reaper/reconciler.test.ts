import { afterEach, beforeEach, expect, test } from "bun:test";
import { type FakeClock, stopClock } from "../../../harness/fake-clock.ts";
import { running } from "./core/stuck-pods.ts";
import { endedEnvoy, fail, type Given, noCommand, podWith, reconcile, stuck, success } from "./reconciled.ts";

let clock: FakeClock;
beforeEach(() => {
  clock = stopClock();
});
afterEach(() => clock[Symbol.dispose]());

/** A reconciler whose commands end only by `finish`. */
function arrange(given: Given = {}) {
  const life = reconcile(clock, given);
  const underWay = new Map<string, () => void>();
  const begun: string[] = [];
  life.world.exec = async (name) => {
    begun.push(name);
    if (underWay.has(name)) throw new Error(`${name} is under way twice`);
    await new Promise<void>((resolve) => underWay.set(name, resolve));
    underWay.delete(name);
    return success;
  };
  const finish = async (name: string): Promise<void> => {
    life.put(endedEnvoy(name));
    underWay.get(name)?.();
    await life.pass(0);
  };
  return { ...life, begun, underWay, finish };
}

test("stuck pods are begun in order", async () => {
  const { put, pass, begun, finish } = arrange({ concurrency: 1 });
  for (const name of ["a", "b", "c"]) put(stuck(name));
  await pass(0);
  for (const name of ["a", "b", "c"]) await finish(name);
  expect(begun).toEqual(["a", "b", "c"]);
});

test("no more pods are under way than the limit allows, none twice, however often they change", async () => {
  const { put, pass, begun, underWay, finish } = arrange({ concurrency: 3 });
  const names = Array.from({ length: 9 }, (_, at) => `p${at}`);
  for (const name of names) put(stuck(name));
  await pass(0);
  for (const name of names) put(podWith(running, name, { annotations: { ...chosen, "ebb.dev/x": "1" } }));
  await pass(250);
  expect([begun.length, [...underWay.keys()]]).toEqual([3, ["p0", "p1", "p2"]]);
  await finish("p1");
  expect([...underWay.keys()]).toEqual(["p0", "p2", "p3"]);
});

const chosen = { "ebb.dev/reap": "true", "ebb.dev/reap-exec.envoy": "/stop" };

test("a pod that is not stuck any more does not wait for its turn", async () => {
  const { put, pass, reconciler } = arrange({ concurrency: 1 });
  put(stuck("a"));
  put(stuck("b"));
  await pass(0);
  expect(reconciler.depth()).toBe(1);
  put(podWith(running, "b", { app: running }));
  expect(reconciler.depth()).toBe(0);
});

test("a pod that is seen again without anything new is not judged again", async () => {
  const { put, pass, records } = arrange({ afterMs: 60_000 });
  put(stuck());
  const verdict = records.get("uid-p")?.verdict;
  await pass(1000);
  put({ ...stuck(), spec: { ...(stuck().spec as object), priority: 1 } });
  expect(records.get("uid-p")?.verdict).toBe(verdict as NonNullable<typeof verdict>);
});

test("a pod that was ended is not begun anew, and is forgotten when it is deleted", async () => {
  const { put, pass, records, reconciler, begun, finish } = arrange();
  put(stuck());
  await pass(0);
  await finish("p");
  expect(records.get("uid-p")?.outcome).toMatchObject({ kind: "ended" });
  put(stuck());
  await pass(60_000);
  expect(begun).toEqual(["p"]);
  reconciler.gone("uid-p");
  expect(records.size).toBe(0);
});

test("a pod that was given up is not begun anew, until a right is granted", async () => {
  const { put, pass, records, requests, reconciler, world } = reconcile(clock, { methods: ["exec"] });
  world.exec = async () => noCommand;
  put(stuck());
  await pass(600_000);
  expect(records.get("uid-p")).toMatchObject({ outcome: { kind: "gave-up" }, verdict: { rule: "handled" } });
  const { length } = requests;
  put(podWith(running, "p", { annotations: { ...chosen, "ebb.dev/x": "1" } }));
  await pass(600_000);
  expect(requests).toHaveLength(length);
  reconciler.reconsider(true);
  await pass(0);
  expect(requests.length).toBeGreaterThan(length);
});

test("a pod that is deleted while its attempt is under way leaves nothing behind", async () => {
  const { put, pass, records, reconciler, told, underWay } = arrange();
  put(stuck());
  await pass(0);
  reconciler.gone("uid-p");
  expect(reconciler.depth()).toBe(0);
  underWay.get("p")?.();
  await pass(0);
  expect([records.size, reconciler.depth(), told.includes("ended")]).toEqual([0, 0, true]);
});

test("a pod that comes back while its attempt is under way goes on where it was", async () => {
  const { put, pass, records, reconciler, underWay, finish } = arrange();
  put(stuck());
  await pass(0);
  reconciler.gone("uid-p");
  put(stuck());
  expect(records.get("uid-p")).toMatchObject({ isGone: false, attempt: {} });
  underWay.get("p")?.();
  await pass(0);
  await finish("p");
  expect(records.get("uid-p")?.outcome).toMatchObject({ kind: "ended" });
});

test.each([
  [false, 1],
  [true, 2],
])(
  "a pod that was put off goes on at once where a permission was granted (%p), not where one changed",
  async (isGranted, reads) => {
    const { put, pass, requests, reconciler, world } = reconcile(clock);
    world.get = async () => fail(403, "403");
    put(stuck());
    await pass(0);
    reconciler.reconsider(isGranted);
    await pass(0);
    expect(requests).toHaveLength(reads);
  },
);

test.each([
  ["it is gone", async () => fail(404, "404")],
  ["it may not be read", async () => fail(403, "403")],
])("a pod rests after a look without a reason to act (%s), whatever the watch says", async (_, get) => {
  const { put, pass, requests, reconciler, world } = reconcile(clock);
  world.get = get;
  put(stuck());
  await pass(0);
  for (let at = 0; at < 20; at += 1) put(podWith(running, "p", { annotations: { ...chosen, "ebb.dev/x": `${at}` } }));
  await pass(4500); // half of 10 s at least
  expect([requests, reconciler.depth()]).toEqual([["GET p"], 1]);
  await pass(6000);
  expect(requests).toEqual(["GET p", "GET p"]);
});

test.each([
  ["a pod whose app has just ended waits for its time", 0],
  ["a pod whose node's clock is ahead waits, too, from when it was first seen", 3_600_000],
])("%s", async (_, aheadMs) => {
  const { put, pass, requests } = reconcile(clock, { afterMs: 3000 });
  const finishedAt = new Date(Date.now() + aheadMs).toISOString();
  put(podWith(running, "p", { app: { terminated: { exitCode: 0, finishedAt } } }));
  await pass(2750);
  expect(requests).toEqual([]);
  await pass(500);
  expect(requests).toEqual(["GET p", "exec p"]);
});

test("the log says once with --dry-run that a pod is stuck", async () => {
  const { put, pass, log, requests, reconciler } = reconcile(clock, { isDryRun: true });
  put(stuck());
  await pass(0);
  put(podWith(running, "p", { annotations: { ...chosen, "ebb.dev/x": "1" } }));
  await pass(250);
  expect(log.lines.map(({ message, fields }) => [message, fields.pod])).toEqual([["pod is stuck", "p"]]);
  expect([requests, reconciler.depth()]).toEqual([[], 0]);
});

test("a request waits for its turn before the look, so that nothing waits between them", async () => {
  const { put, pass, requests } = turns();
  put(stuck());
  await pass(0);
  expect(requests).toEqual(["turn", "turn", "GET p", "exec p"]);
});

function turns() {
  const life = reconcile(clock, { turn: async () => void life.requests.push("turn") });
  return life;
}
