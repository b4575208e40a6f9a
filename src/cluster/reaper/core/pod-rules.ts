import { nearest } from "../../../shared/cli/core/suggestion.ts";
import { splitBy } from "../../../shared/core/text.ts";
import { joinNames } from "../../../shared/core/wording.ts";
import { isSidecar } from "../../core/containers.ts";
import { isAtWork, ownEphemerals } from "./ephemeral.ts";
import { isNative, type Parts, restartAfter } from "./pod-containers.ts";
import type { ContainerState, ContainerView, PodView } from "./pod-view.ts";
import { type ReapPolicy, selectionOf } from "./policy.ts";

/** What this reaper knows of a pod besides what it says. */
export interface ReaperMemory {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** What became of the pod, if the reaper is done with it: a sentence. */
  readonly handled?: string | undefined;
  /** When it first saw that only the time was missing, in milliseconds since the epoch: a node's clock may be ahead. */
  readonly seenAt?: number | undefined;
}

/** What the rules look at. */
export interface RuleInput extends Parts {
  readonly pod: PodView;
  readonly policy: ReapPolicy;
  readonly memory: ReaperMemory;
}

/**
 * The rules in their order. Each returns why a pod is left alone, or undefined if it has nothing against reaping it.
 * The first reason counts. Their names are in metrics, so they never change.
 */
export const rules = [
  ["opted-out", chosen("out")],
  ["unreadable-choice", chosen("unreadable")],
  ["not-selected", chosen("not in")],
  ["handled", ({ memory }) => memory.handled],
  ["deleted", ({ pod }) => (pod.isDeleted ? "it is being deleted: the kubelet ends all its containers" : undefined)],
  ["static", ({ pod }) => (pod.isStatic ? "it is a static pod, the kubelet's own" : undefined)],
  ["node-lost", nodeLost],
  ["over", ({ pod }) => (/^(Succeeded|Failed)$/.test(pod.phase ?? "") ? `it has finished: ${pod.phase}` : undefined)],
  ["pending", ({ pod }) => (pod.phase === "Running" ? undefined : `its phase is ${pod.phase ?? "not set"}`)],
  ["restarting", ({ pod }) => (pod.isRestarting ? "all its containers are being started again" : undefined)],
  ["contradiction", contradiction],
  ["no-app", ({ apps }) => (apps.length === 0 ? "all its containers are sidecars: it has no app" : undefined)],
  ["no-sidecar", noSidecar],
  ["initializing", initializing],
  ["app-running", ({ apps }) => firstOf(apps, "running", ({ name }) => `app container ${name} still runs`)],
  ["app-waiting", ({ apps }) => firstOf(apps, "waiting", (app) => `app container ${app.name} waits: ${waitOf(app)}`)],
  ["app-unknown", ({ apps }) => unknown(apps, "app container")],
  ["app-restarts", ({ apps, pod }) => restart(apps, pod)],
  ["sidecar-waiting", ({ sidecars }) => firstOf(sidecars, "waiting", (each) => `${each.name} waits: ${waitOf(each)}`)],
  ["sidecar-unknown", ({ sidecars }) => unknown(sidecars, "sidecar")],
  ["sidecar-restarts", sidecarRestarts],
  ["sidecars-ended", sidecarsEnded],
  ["being-ended", beingEnded],
  [
    "debugged",
    ({ pod }) => firstOf(pod.ephemeralContainers, "running", ({ name }) => `somebody is debugging it: ${name} runs`),
  ],
] as const satisfies readonly (readonly [string, (facts: RuleInput) => string | undefined])[];

/** By these only sidecars are left of a pod, for good, even if nothing may or can end them now. They follow in `verdictOf`. */
const lastRules = ["no-method", "too-early", "no-right", "stuck"] as const;

/** The name of a rule. */
export type Rule = (typeof rules)[number][0] | (typeof lastRules)[number];

/** The names of all rules, as metrics have them. */
export const ruleNames: readonly Rule[] = [...rules.map(([name]) => name), ...lastRules];

const setOf = (...names: readonly Rule[]): ReadonlySet<Rule> => new Set(names);
export const stuckRules = setOf(...lastRules);
/** By these a label or annotation, or the lack of one, leaves the pod. */
export const choiceRules = setOf("opted-out", "unreadable-choice", "not-selected");
/** Ordinary pods: the table of --once only counts them. */
export const plainRules = setOf("not-selected", "over", "pending", "app-running");
/** The pod is left until a user mends a label, an annotation or a permission. */
export const userRules = setOf("unreadable-choice", "contradiction", "no-method", "no-right");
/** Its sidecars have ended, whether or not the reaper ended them. */
export const endedRules = setOf("sidecars-ended", "over");
/** Another request would not help: the kubelet starts the sidecar again, or no method is left. */
export const lastingRules = setOf("sidecar-restarts", "sidecar-waiting", "no-method");

function chosen(kind: string): (facts: RuleInput) => string | undefined {
  return ({ pod, policy }) => {
    const choice = selectionOf(pod, policy);
    return choice.kind === kind ? choice.reason : undefined;
  };
}

/**
 * Reports a pod whose node is lost (kubernetes pkg/util/node: NodeUnreachablePodReason). The kubelet there may go on,
 * unseen.
 */
function nodeLost({ pod }: RuleInput): string | undefined {
  const isLost = pod.phase === "Unknown" || pod.statusReason === "NodeLost";
  return isLost ? "its node is lost: its status may be out of date" : undefined;
}

/**
 * Says which annotations contradict each other or the pod. A container of ebb.dev/apps is an app,
 * not a sidecar.
 */
function contradiction(facts: RuleInput): string | undefined {
  const { pod } = facts;
  const wrapped = splitBy(pod.annotations.get("ebb.dev/apps") ?? "", ",");
  const given = splitBy(pod.annotations.get("ebb.dev/sidecars") ?? "", ",");
  const both = given.filter((name) => wrapped.includes(name));
  if (both.length > 0) return `ebb.dev/sidecars and ebb.dev/apps both name ${both.sort().join(", ")}`;
  return strayName(pod) ?? slip(facts, given);
}

/** Names an annotation about ending a container that the pod does not have. */
function strayName({ annotations, containers, initContainers }: PodView): string | undefined {
  const names = [...containers, ...initContainers].map(({ name }) => name);
  for (const key of annotations.keys()) {
    const [, name] = /^ebb\.dev\/reap-(?:exec|quit|patience)\.(.+)$/s.exec(key) ?? [];
    if (name !== undefined && !names.includes(name)) return `${key}: ${noContainer(name, names)}`;
  }
  return undefined;
}

function noContainer(name: string, names: readonly string[]): string {
  const near = nearest(name, names);
  const hint = near === undefined ? "" : `; did you mean ${near}?`;
  return `there is no container "${name}": this pod's containers are ${joinNames(names)}${hint}`;
}

/**
 * Names an unknown container in ebb.dev/sidecars, if a sidecar whose name is mistyped there could count as an app that
 * still runs.
 */
function slip({ pod, apps }: RuleInput, given: readonly string[]): string | undefined {
  const isLeft = apps.some(isIn("running")) && apps.some(isIn("terminated"));
  const names = [...pod.containers, ...pod.initContainers].map(({ name }) => name);
  const strange = given.find((name) => !names.includes(name) && !isSidecar(name, undefined));
  if (!isLeft || strange === undefined) return undefined;
  return `annotation ebb.dev/sidecars: ${noContainer(strange, names)}`;
}

function isIn(kind: ContainerState["kind"]): (container: ContainerView) => boolean {
  return ({ state }) => state.kind === kind;
}

function noSidecar({ sidecars, pod }: RuleInput): string | undefined {
  if (sidecars.length > 0) return undefined;
  const native = pod.initContainers.filter(isNative).map(({ name }) => name);
  if (native.length > 0) return `the kubelet ends its native sidecars (${native.join(", ")}) after the app`;
  return "it has no sidecar that ebb knows; name yours in the annotation ebb.dev/sidecars";
}

/**
 * Names an init container that is not done. After a new sandbox they run again, while the app's containers still show
 * their last end.
 */
function initializing({ pod }: RuleInput): string | undefined {
  const isDone = ({ state }: ContainerView) => state.kind === "terminated" && state.exitCode === 0;
  const next = pod.initContainers.find((each) => !isNative(each) && !isDone(each));
  return next === undefined ? undefined : `init container ${next.name} is not done`;
}

function beingEnded({ pod }: RuleInput): string | undefined {
  const first = ownEphemerals(pod).find(isAtWork);
  return first === undefined ? undefined : `${first.name} is ending its sidecars`;
}

function firstOf(
  containers: readonly ContainerView[],
  kind: ContainerView["state"]["kind"],
  tell: (container: ContainerView) => string,
): string | undefined {
  const first = containers.find(({ state }) => state.kind === kind);
  return first === undefined ? undefined : tell(first);
}

function waitOf({ state }: ContainerView): string {
  return state.kind === "waiting" ? state.reason : "";
}

/**
 * Names a container of which the kubelet has lost track (kubernetes pkg/kubelet/container,
 * ContainerReasonStatusUnknown).
 */
function unknown(containers: readonly ContainerView[], what: string): string | undefined {
  const isLost = ({ state }: ContainerView) => state.kind === "terminated" && state.reason === "ContainerStatusUnknown";
  const first = containers.find((each) => each.state.kind === "unknown" || isLost(each));
  return first === undefined ? undefined : `the state of ${what} ${first.name} is not known`;
}

function restart(containers: readonly ContainerView[], pod: PodView): string | undefined {
  for (const each of containers) {
    if (each.state.kind !== "terminated") continue;
    const { exitCode, reason } = each.state;
    const why = reason === "RestartingAllContainers" ? reason : restartAfter(exitCode, each, pod);
    if (why !== undefined) return `the kubelet starts ${each.name} again (${why})`;
  }
  return undefined;
}

/** Names a sidecar that the kubelet would start again: ending it would not complete the pod. */
function sidecarRestarts({ sidecars, pod }: RuleInput): string | undefined {
  const back = sidecars.find((each) => restartAfter(0, each, pod) !== undefined);
  if (back === undefined) return restart(sidecars, pod);
  return `the kubelet would start ${back.name} again after it was ended (${restartAfter(0, back, pod)})`;
}

function sidecarsEnded({ sidecars }: RuleInput): string | undefined {
  return sidecars.every(({ state }) => state.kind === "terminated") ? "its sidecars have ended already" : undefined;
}
