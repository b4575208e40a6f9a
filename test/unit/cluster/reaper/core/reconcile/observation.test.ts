import { expect, test } from "bun:test";
import { observationOf, observationOfLost } from "../../../../../../src/cluster/reaper/core/reconcile.ts";
import { ended, known, podOf, policy, running } from "../stuck-pods.ts";

const stuck = { containers: { app: ended(0), "istio-proxy": running } };

test("a pod that is stuck as before is seen so", () => {
  expect(observationOf(podOf(stuck), "uid-1", policy, known)).toMatchObject({ kind: "end", rule: "stuck" });
});

test.each<[string, unknown]>([
  ["is not there", undefined],
  ["is another of its name, stuck or not", podOf({ ...stuck, metadata: { uid: "uid-2" } })],
  ["has no UID", podOf({ ...stuck, metadata: { uid: undefined } })],
])("a pod that %s is gone", (_, pod) => {
  expect(observationOf(pod, "uid-1", policy, known)).toEqual({ kind: "gone" });
});

test("one that has changed is seen as it is now", () => {
  const alive = podOf({ containers: { ...stuck.containers, app: running } });
  expect(observationOf(alive, "uid-1", policy, known)).toMatchObject({ kind: "leave", rule: "app-running" });
});

test("one that a watch of running pods has lost is over, or deleted if it was marked so", () => {
  expect(observationOfLost(podOf(stuck))).toMatchObject({ kind: "leave", rule: "over" });
  const deletionTimestamp = "2026-01-01T00:00:00Z";
  expect(observationOfLost(podOf({ ...stuck, metadata: { deletionTimestamp } }))).toEqual({ kind: "gone" });
});
