import { expect, test } from "bun:test";
import type { ReaperMemory, Rule } from "../../../../../src/cluster/reaper/core/pod-rules.ts";
import { viewOf } from "../../../../../src/cluster/reaper/core/pod-view.ts";
import type { ReapPolicy } from "../../../../../src/cluster/reaper/core/policy.ts";
import { verdictOf } from "../../../../../src/cluster/reaper/core/verdict.ts";
import { ended, known, type PodInWords, podOf, policy, running } from "./stuck-pods.ts";

export const stuck = { app: ended(0), "istio-proxy": running };

export const native = { spec: { restartPolicy: "Always" } };

/** Returns the verdict on a pod; `policies` and `knowing` replace fields of the usual policy and memory. */
export const verdict = (pod: PodInWords, policies: Partial<ReapPolicy> = {}, knowing: Partial<ReaperMemory> = {}) =>
  verdictOf(viewOf(podOf(pod)), { ...policy, ...policies }, { ...known, ...knowing });

/** A title, the pod, the rule by which it is left alone, and a part of the reason. */
type Left = readonly [title: string, pod: PodInWords, rule: Rule, reason: string, policies?: Partial<ReapPolicy>];

/** Declares a test for each row: the verdict on its pod is to leave it alone, by that rule and for that reason. */
export function testLeft(rows: readonly Left[]): void {
  test.each(rows.map(([title, pod, rule, reason, policies = {}]) => [title, pod, rule, reason, policies] as const))(
    "%s",
    (_, pod, rule, reason, policies) => {
      const got = verdict(pod, policies);
      expect([got.kind, got.rule]).toEqual(["leave", rule]);
      expect(got.reason).toContain(reason);
    },
  );
}
