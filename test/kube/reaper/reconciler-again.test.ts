import { expect, test } from "bun:test";
import type { Outcome } from "../../../src/core/reap/reconcile.ts";
import { until } from "../../harness.ts";
import { never } from "../../time.ts";
import { begins, LONG_MS, lead } from "./reconciled.ts";

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

test("one of which nobody can say now whether it was told is not told yet", async () => {
  const reconciler = lead({ toldMsAgo: "unanswered" });
  reconciler.put("a");
  reconciler.act();
  await until("Events are read", () => reconciler.asked.length > 0 || undefined, LONG_MS);
  await never("it is begun", () => reconciler.begun.length > 0, 50);
  expect(reconciler.depth()).toBe(1);
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
