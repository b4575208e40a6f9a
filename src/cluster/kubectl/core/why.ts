import { describeMethod, type Ending } from "../../reaper/core/methods.ts";
import type { PodView } from "../../reaper/core/pod-view.ts";
import type { Report } from "../../reaper/core/report.ts";
import { describeMissing, missingFor, type Right } from "../../reaper/core/rights.ts";
import type { Hold, Judgement } from "../../reaper/core/verdict.ts";
import { type PodRow, rowOf } from "./pod-status.ts";

/** What `kubectl ebb why` tells of a pod, in JSON too. */
export interface PodReason extends PodRow {
  /** All rules by which the reaper leaves it. */
  readonly holds: readonly Hold[];
  /** How its sidecars would be ended, in the order in which it is tried. */
  readonly methods: readonly MethodStatus[];
  /** What --end did; null without it. */
  readonly end: Report | null;
}

/** A way to end a sidecar. */
interface MethodStatus {
  readonly container: string;
  readonly kind: string;
  readonly method: string;
  /** Why it cannot be used; null if it can. */
  readonly problem: string | null;
}

/**
 * Describes what a pod is, by which rules the reaper leaves it, and what ends it. `missing` are the permissions that the
 * caller lacks.
 */
export function reasonOf(pod: PodView, { state, holds }: Judgement, missing: readonly Right[]): PodReason {
  const endings = state.kind === "end" ? state.containers : [];
  return {
    ...rowOf(pod, state),
    holds: withoutEchoes(holds),
    methods: endings.flatMap((each) => methodsOf(each, missing, pod.namespace)),
    end: null,
  };
}

/** Leaves out what only repeats another rule: without sidecars all of them have ended, a pod that is over does not run. */
function withoutEchoes(holds: readonly Hold[]): readonly Hold[] {
  const has = (rule: Hold["rule"]) => holds.some((each) => each.rule === rule);
  return holds.filter(({ rule }) => {
    if (rule === "sidecars-ended") return !has("no-sidecar");
    return rule !== "pending" || !(has("over") || has("node-lost"));
  });
}

function methodsOf(
  { container, methods, lacksImage }: Ending,
  missing: readonly Right[],
  namespace: string,
): readonly MethodStatus[] {
  const statuses = methods.map((each): MethodStatus => {
    const lack = missingFor(missing, { namespace, method: each.kind });
    const problem = lack.length === 0 ? null : describeMissing(lack, true);
    return { container, kind: each.kind, method: describeMethod(each), problem };
  });
  const method = `ephemeral container that shuts down ${container}`;
  return lacksImage === true
    ? [...statuses, { container, kind: "ephemeral", method, problem: "needs --image IMAGE" }]
    : statuses;
}
