import type { JsonObject } from "../base/json.ts";
import { describeMethod, type Ending } from "../reap/methods.ts";
import { choiceRules } from "../reap/pod-rules.ts";
import { viewOf } from "../reap/pod-view.ts";
import type { ReapPolicy } from "../reap/policy.ts";
import type { Report } from "../reap/report.ts";
import { describeRight, missingFor, type Right } from "../reap/rights.ts";
import { type Hold, holdsOf, verdictOf } from "../reap/verdict.ts";
import { type PodSummary, summaryOf } from "./pod-status.ts";

/** What `kubectl ebb why` tells of a pod, in JSON too. */
export interface PodReason extends PodSummary {
  /** Only its sidecars are left, for good, whether or not the reaper may act. */
  readonly stuck: boolean;
  /** The rule that decides if the pod is selected, and what the rule says. */
  readonly rule: Hold["rule"];
  readonly why: string;
  /** All rules by which the reaper leaves it. */
  readonly holds: readonly Hold[];
  /** How its sidecars would be ended, in the order in which it is tried. */
  readonly methods: readonly MethodStatus[];
  /** What --end did; null without it. */
  readonly end: Report | null;
}

/** A way to end a sidecar. */
export interface MethodStatus {
  readonly container: string;
  readonly kind: string;
  readonly method: string;
  /** Why it cannot be used; null if it can. */
  readonly problem: string | null;
}

/** Decides about a pod as the reaper does. `missing`: the permissions that the caller lacks. */
export function reasonOf(pod: JsonObject, policy: ReapPolicy, { now, missing }: Known): PodReason {
  const holds = withoutEchoes(holdsOf(pod, policy, { now }));
  const chosen: ReapPolicy = { ...policy, waived: choiceRules };
  const { rule, reason } = verdictOf(pod, chosen, { now });
  const ending = verdictOf(pod, { ...chosen, afterMs: 0 }, { now });
  return {
    ...summaryOf(pod),
    stuck: ending.kind === "end",
    rule,
    why: reason,
    // those that verdictOf itself applies
    holds: rule === "too-early" || rule === "no-method" ? [...holds, { rule, reason }] : holds,
    methods:
      ending.kind === "end" ? ending.containers.flatMap((each) => methodsOf(each, missing, viewOf(pod).namespace)) : [],
    end: null,
  };
}

interface Known {
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly missing: readonly Right[];
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
  const known = methods.map((each): MethodStatus => {
    const lack = missingFor(missing, { namespace, method: each.kind });
    const problem = lack.length === 0 ? null : `you may not ${lack.map(describeRight).join(", ")}`;
    return { container, kind: each.kind, method: describeMethod(each), problem };
  });
  const method = `ephemeral container that quits ${container}`;
  return lacksImage === true
    ? [...known, { container, kind: "ephemeral", method, problem: "needs --image IMAGE" }]
    : known;
}
