import { expect, test } from "bun:test";
import { observationOf } from "../../../../src/core/reap/reconcile.ts";
import { ended, known, podOf, policy, running } from "../stuck-pods.ts";

const stuck = { containers: { app: ended(0), "istio-proxy": running } };

test("a pod that is stuck as before is seen so", () => {
  expect(observationOf(podOf(stuck), "uid-1", policy, known)).toMatchObject({ kind: "end", rule: "stuck" });
});

test("that it is being dealt with is no reason to leave it", () => {
  const handled = "it is being dealt with";
  expect(observationOf(podOf(stuck), "uid-1", policy, { ...known, handled }).kind).toBe("end");
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
