import { formatDuration } from "../../../shared/core/duration.ts";
import { isProxy, type SidecarName } from "../../../shared/sidecars/core/registry.ts";
import { sidecarIn } from "../../core/containers.ts";
import { type Ending, endingOf, type Method } from "./methods.ts";
import { sortContainers } from "./pod-containers.ts";
import { choiceRules, type ReaperMemory, type Rule, type RuleInput, rules, stuckRules } from "./pod-rules.ts";
import type { PodView } from "./pod-view.ts";
import type { ReapPolicy } from "./policy.ts";
import { describeMissing, missingFor } from "./rights.ts";

/** What the reaper does with a pod, by which rule, and why: a sentence for logs, Events and the table of --once. */
export type Verdict =
  | { readonly kind: "leave"; readonly rule: Rule; readonly reason: string }
  /** Nothing is done before `at`, in milliseconds since the epoch. Then the same pod may be stuck. */
  | { readonly kind: "later"; readonly rule: Rule; readonly reason: string; readonly at: number }
  /** The pod is stuck. Its sidecars are ended in this order. */
  | { readonly kind: "end"; readonly rule: Rule; readonly reason: string; readonly containers: readonly Ending[] };

/**
 * Decides whether a pod is stuck: its sidecars are all that is left of it, for good. Never throws. `memory`: what this
 * reaper remembers of it.
 */
export function verdictOf(pod: PodView, policy: ReapPolicy, memory: ReaperMemory): Verdict {
  const facts = { pod, ...sortContainers(pod), policy, memory };
  const hold = holdsIn(facts).next().value;
  if (hold !== undefined) return { kind: "leave", ...hold };
  const endings = endingsOf(facts);
  if (typeof endings === "string") return { kind: "leave", rule: "no-method", reason: endings };
  return withRights(inTime(facts, endings), facts);
}

/** Reports whether only a pod's sidecars are left, for good, even if nothing may or can end them now. */
export function isStuck({ rule }: Verdict): boolean {
  return stuckRules.has(rule);
}

/** A rule by which a pod is left, and why. */
export interface Hold {
  readonly rule: Rule;
  readonly reason: string;
}

/** A pod as people are told of it. */
export interface Judgement {
  /** What it is at this moment, whether or not a reaper selects it, and how long ago its app ended. */
  readonly state: Verdict;
  /** All rules by which the reaper leaves it, in their order; if it is stuck, with the lack of methods or of time. */
  readonly holds: readonly Hold[];
}

/** Judges a pod for people. `now` is in milliseconds since the epoch. */
export function judgementOf(pod: PodView, policy: ReapPolicy, now: number): Judgement {
  const facts = { pod, ...sortContainers(pod), policy, memory: { now } };
  const holds = [...holdsIn(facts)];
  const hold = holds.find(({ rule }) => !choiceRules.has(rule));
  if (hold !== undefined) return { state: { kind: "leave", ...hold }, holds };
  const endings = endingsOf(facts);
  if (typeof endings === "string") {
    const lack: Hold = { rule: "no-method", reason: endings };
    return { state: { kind: "leave", ...lack }, holds: [...holds, lack] };
  }
  const { kind, rule, reason } = inTime(facts, endings);
  const atOnce = inTime({ ...facts, policy: { ...policy, afterMs: 0 } }, endings);
  return { state: withRights(atOnce, facts), holds: kind === "later" ? [...holds, { rule, reason }] : holds };
}

function* holdsIn(facts: RuleInput): Generator<Hold, undefined> {
  for (const [rule, reasonToLeave] of rules) {
    const reason = reasonToLeave(facts);
    if (reason !== undefined) yield { rule, reason };
  }
}

/**
 * Lists the running sidecars with the methods to end each; returns a text if one cannot be ended, and why. The mesh's
 * proxy comes last: the others may still send through it.
 */
function endingsOf({ pod, sidecars, policy }: RuleInput): readonly Ending[] | string {
  const running = sidecars.filter(({ state }) => state.kind === "running");
  const ranked = running.map((container) => ({ container, sidecar: sidecarIn(container.name, container.image) }));
  ranked.sort((one, other) => rank(one.sidecar) - rank(other.sidecar));
  const endings: Ending[] = [];
  for (const { container, sidecar } of ranked) {
    const ending = endingOf(container, sidecar, { ...policy, pod, allowed: policy.methods });
    if (typeof ending === "string") return ending;
    endings.push(ending);
  }
  return endings;
}

function rank(sidecar: SidecarName | undefined): number {
  return sidecar !== undefined && isProxy(sidecar) ? 1 : 0;
}

/**
 * Leaves out the methods for which the reaper lacks permissions. If none is left for a sidecar, the pod is left alone,
 * for that reason.
 */
function withRights(verdict: Verdict, { pod, policy }: RuleInput): Verdict {
  const { missing = [] } = policy;
  if (verdict.kind !== "end" || missing.length === 0) return verdict;
  const containers: Ending[] = [];
  for (const ending of verdict.containers) {
    const lackOf = ({ kind }: Method) => missingFor(missing, { namespace: pod.namespace, method: kind });
    const methods = ending.methods.filter((each) => lackOf(each).length === 0);
    if (methods.length === 0) {
      const lack = describeMissing([...new Set(ending.methods.flatMap(lackOf))], policy.isByHand);
      return { kind: "leave", rule: "no-right", reason: `${verdict.reason}; nothing was done, because ${lack}` };
    }
    containers.push({ ...ending, methods });
  }
  return { ...verdict, containers };
}

/**
 * Decides whether the app ended at least --after ago. Until then a sidecar may flush what the app left, or end by
 * itself.
 */
function inTime({ apps, policy, memory }: RuleInput, containers: readonly Ending[]): Verdict {
  const { now, seenAt = now } = memory;
  const ended = apps.flatMap(({ state }) => (state.kind === "terminated" ? [state.finishedAt] : []));
  const endedAt = Math.max(...ended);
  // by the node's clock or by this one, whichever says longer ago: a node's clock may be ahead
  const at = Math.min(endedAt, seenAt) + policy.afterMs;
  const codes = apps.map(
    ({ name, state }) => `${name}: exit code ${state.kind === "terminated" ? state.exitCode : "unknown"}`,
  );
  const what = `the app has ended and will not restart (${codes.join(", ")})`;
  if (now < at)
    return {
      kind: "later",
      rule: "too-early",
      reason: `${what}, but less than ${formatDuration(policy.afterMs)} ago`,
      at,
    };
  const names = containers.map(({ container }) => container).join(", ");
  return {
    kind: "end",
    rule: "stuck",
    reason: `${what}, but ${names} still ${containers.length > 1 ? "run" : "runs"}`,
    containers,
  };
}
