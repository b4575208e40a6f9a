import { expect, test } from "bun:test";
import type { Outcome } from "../../../../src/cluster/reaper/core/reconcile.ts";
import { until } from "../../../harness.ts";
import { never } from "../../../time.ts";
import { begins, LONG_MS, reconcile } from "./reconciled.ts";

test.each<Outcome>([
  { kind: "left", reason: "it is not stuck any more" },
  { kind: "put-off", reason: "the kubelet does not answer" },
])("where a fresh look sees no reason to act it rests first, whatever the watch says: %o", async (outcome) => {
  const reconciler = reconcile();
  reconciler.put("a");
  await begins(reconciler, 1);
  reconciler.finish("a", outcome);
  await until("it is over", () => reconciler.underWay.size === 0 || undefined, LONG_MS);
  for (let at = 0; at < 20; at += 1) reconciler.put("a");
  await never("it is begun anew", () => reconciler.begun.length > 1, 50);
  expect(reconciler.depth()).toBe(1);
  await reconciler.end();
});

test("a pod whose app has just ended waits for its time", async () => {
  const reconciler = reconcile({ afterMs: 300 });
  const start = Date.now();
  reconciler.put("a", { terminated: { exitCode: 0, finishedAt: new Date(start).toISOString() } });
  expect(reconciler.begun).toEqual([]);
  await begins(reconciler, 1);
  expect(Date.now() - start).toBeGreaterThanOrEqual(300);
  await reconciler.end();
});

test("so does one whose node's clock is ahead, from when it was first seen", async () => {
  const reconciler = reconcile({ afterMs: 300 });
  const start = Date.now();
  reconciler.put("a", { terminated: { exitCode: 0, finishedAt: new Date(start + 3_600_000).toISOString() } });
  await begins(reconciler, 1);
  expect(Date.now() - start).toBeGreaterThanOrEqual(300);
  await reconciler.end();
});

test("with --dry-run it says so, once", async () => {
  const reconciler = reconcile({ isDryRun: true });
  reconciler.put("a");
  await until("it says so", () => reconciler.log.lines.length > 0 || undefined, LONG_MS);
  reconciler.put("a");
  await never("it is said again", () => reconciler.log.lines.length > 1, 50);
  expect(reconciler.log.lines.map(({ message, fields }) => [message, fields.pod])).toEqual([["pod is stuck", "a"]]);
  expect(reconciler.begun).toEqual([]);
  await reconciler.end();
});
