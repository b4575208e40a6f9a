import { expect, test } from "bun:test";
import { observationOfLost } from "../../../../../../src/cluster/reaper/core/attempt.ts";
import { viewOf } from "../../../../../../src/cluster/reaper/core/pod-view.ts";
import { ended, podOf, running } from "../stuck-pods.ts";

const stuck = { containers: { app: ended(0), "istio-proxy": running } };

test("a pod that a watch of running pods has lost is over, or deleted if it was marked so", () => {
  expect(observationOfLost(viewOf(podOf(stuck)))).toMatchObject({ kind: "leave", rule: "over" });
  const deletionTimestamp = "2026-01-01T00:00:00Z";
  expect(observationOfLost(viewOf(podOf({ ...stuck, metadata: { deletionTimestamp } })))).toEqual({ kind: "gone" });
});
