import type { Observation } from "./attempt-steps.ts";
import type { ReaperMemory } from "./pod-rules.ts";
import { viewOf } from "./pod-view.ts";
import type { ReapPolicy } from "./policy.ts";
import { verdictOf } from "./verdict.ts";

/** The pod that an attempt is about, wherever it is looked at. */
export interface Attempted {
  readonly uid: string;
  readonly policy: ReapPolicy;
  readonly known: ReaperMemory;
}

/**
 * Returns what an attempt sees of its pod: `gone` where it is, or where another pod has its name (kuma#13617), else the verdict.
 * That the pod is being handled does not count.
 */
export function observationOf(pod: unknown, { uid, policy, known }: Attempted): Observation {
  if (viewOf(pod).uid !== uid) return { kind: "gone" };
  return verdictOf(pod, policy, { ...known, handled: new Map() });
}
