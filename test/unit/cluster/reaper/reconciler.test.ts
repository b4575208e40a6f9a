import { expect, test } from "bun:test";
import { until } from "../../../harness.ts";
import { never } from "../../../time.ts";
import { running } from "./core/stuck-pods.ts";
import { begins, LONG_MS, reconcile } from "./reconciled.ts";

test("stuck pods are begun in order", async () => {
  const reconciler = reconcile({ concurrency: 1 });
  for (const uid of ["a", "b", "c"]) reconciler.put(uid);
  for (const [at, uid] of ["a", "b", "c"].entries()) {
    await begins(reconciler, at + 1);
    reconciler.finish(uid);
  }
  expect(reconciler.begun).toEqual(["a", "b", "c"]);
  await reconciler.end();
});

test("no more are under way than the limit allows, none twice, however often it changes", async () => {
  const reconciler = reconcile({ concurrency: 3 });
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
  const reconciler = reconcile();
  reconciler.put("a");
  await begins(reconciler, 1);
  reconciler.put("a");
  reconciler.put("b");
  await begins(reconciler, 2);
  expect(reconciler.begun).toEqual(["a", "b"]);
  await reconciler.end();
});

test("one that is not stuck any more does not wait for its turn", async () => {
  const reconciler = reconcile({ concurrency: 1 });
  reconciler.put("a");
  await begins(reconciler, 1);
  reconciler.put("b");
  expect(reconciler.depth()).toBe(1);
  reconciler.put("b", running);
  expect(reconciler.depth()).toBe(0);
  await reconciler.end();
});

test.each([
  ["ended", { kind: "ended", requests: [] }],
  ["given up", { kind: "gave-up", reason: "it does not go", tried: [] }],
] as const)("a pod that was %s is not begun anew, and is forgotten when it is deleted", async (_, outcome) => {
  const reconciler = reconcile();
  reconciler.put("a");
  await begins(reconciler, 1);
  reconciler.finish("a", outcome);
  await until("it is done", () => reconciler.memory.get("a")?.handled, LONG_MS);
  reconciler.put("a");
  reconciler.put("b");
  await begins(reconciler, 2);
  expect(reconciler.begun).toEqual(["a", "b"]);
  reconciler.remove("a");
  expect(reconciler.memory.get("a")).toBeUndefined();
  await reconciler.end();
});

test("what is deleted while it is dealt with leaves nothing behind", async () => {
  const reconciler = reconcile();
  reconciler.put("a");
  await begins(reconciler, 1);
  reconciler.remove("a");
  reconciler.finish("a");
  await until("it is over", () => reconciler.underWay.size === 0 || undefined, LONG_MS);
  const sizes = () => [reconciler.memory.size, reconciler.depth()];
  await until("nothing is left", () => sizes().every((size) => size === 0), LONG_MS);
  await reconciler.end();
});
