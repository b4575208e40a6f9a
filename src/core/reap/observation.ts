import type { Observation } from "./attempt-steps.ts";
import type { ReaperMemory } from "./pod-rules.ts";
import { viewOf } from "./pod-view.ts";
import type { ReapPolicy } from "./policy.ts";
import { verdictOf } from "./verdict.ts";

/** The pod that an attempt is about, and what its verdict depends on. */
export interface Attempted {
  readonly uid: string;
  readonly policy: ReapPolicy;
  readonly known: ReaperMemory;
}

/**
 * Returns what an attempt sees of its pod: `gone` if there is no pod, or another one under its name (kuma#13617); else
 * its verdict. Unlike `verdictOf`, it takes no account of the pods in `known.handled`.
 */
export function observationOf(pod: unknown, { uid, policy, known }: Attempted): Observation {
  if (viewOf(pod).uid !== uid) return { kind: "gone" };
  return verdictOf(pod, policy, { ...known, handled: new Map() });
}
