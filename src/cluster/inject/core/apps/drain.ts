import { duration } from "../../../../shared/cli/core/syntax.ts";
import { planShutdown } from "../../../../shared/core/shutdown-budget.ts";
import { type HookKind, kindOfHook } from "../facts/existing-hooks.ts";
import type { PodFacts } from "../facts/facts.ts";
import type { Container } from "../pod.ts";
import { variablesOf } from "../pod-annotations.ts";
import type { WithDelay } from "./post-start.ts";
import { canReplace, hookOf, leastOf, msSlept } from "./pre-stop.ts";
import { isRun } from "./runs.ts";
import { hasOwnProxy } from "./sidecar-options.ts";

/** How a container drains when its pod is deleted. */
interface DrainPlan {
  /**
   * `run`: `ebb run` drains, before the app gets its stop signal. Where ebb does not start the app, or does not stay,
   * `hook`: a preStop hook drains; `own-hook`: the container's own hook stays in its place. `none`: it does not drain.
   */
  readonly kind: "run" | "hook" | "own-hook" | "none";
  /** The most time that it may take, as an option's value (`60s`); 0: it does not drain. */
  readonly drain: string;
  /** The same in milliseconds. */
  readonly drainMs: number;
  /** Whether the pod's grace period leaves less than an option, or ebb's default, says. */
  readonly isCut: boolean;
  /** What that option says; undefined if it is not cut. */
  readonly cutFrom: string | undefined;
  /** How long the container's own hook sleeps, if it does nothing else, in milliseconds; else 0. */
  readonly sleptMs: number;
  /** What becomes of such a hook where `ebb run` drains: its drain takes the hook's place, or why not, and what to do. */
  readonly sleep: "replaced" | { readonly whyKept: string } | undefined;
  /** Options of `ebb run` that follow. */
  readonly options: ReadonlyMap<string, string>;
  /** The command of the hook, if there is one. */
  readonly hook: string[];
  /** Why nothing drains in a server, if `kind` is `none`. */
  readonly why: string;
}

/** A container, also with the options of its drain. */
export interface WithDrain extends WithDelay {
  readonly drain: DrainPlan;
}

export function withDrain(app: WithDelay, facts: PodFacts): WithDrain {
  const drain = planDrain(app, facts);
  return { ...app, drain, options: new Map([...app.options, ...drain.options]) };
}

/** How long a drain may take in a server if no option says it. */
const DEFAULT_DRAIN = "60s";

/**
 * Plans how a container drains. It does so unasked if
 *
 * - the pod's restartPolicy is Always;
 * - it starts no ebb of its own;
 * - it has no variable that sets the drain;
 * - the pod is not on its node's network, or has a proxy of its own there;
 * - its own hook does not drain already.
 *
 * Then the drain takes the place of an own hook that only sleeps, and lasts at least as long. It is cut to what the pod's
 * grace period leaves.
 *
 * Kubernetes sends its stop signal to all containers at once, each after its own hook: a hook holds up its own
 * container alone.
 */
function planDrain(app: WithDelay, facts: PodFacts): DrainPlan {
  const wish = wishOf(app, facts);
  return isRun(app) ? planRun(app, wish, facts) : planHook(app, wish, facts);
}

/** What is wanted of a drain, before it is cut. */
interface Wish {
  /** How long it may take, as an option's value, and in milliseconds. */
  readonly text: string;
  readonly ms: number;
  /** The option or variable that says so; undefined if none does. */
  readonly option: string | undefined;
  readonly own: EnvVar | undefined;
  /** What the container's own preStop hook does. */
  readonly hook: HookKind;
  /** Whether the container may drain unasked. */
  readonly isServer: boolean;
  /** Why it would not drain. */
  readonly why: string;
}

type EnvVar = NonNullable<Container["env"]>[number];

function wishOf(app: WithDelay, facts: PodFacts): Wish {
  const { container, start, evidence, options } = app;
  const option = options.get("drain");
  const own = variableIn(container, "drain");
  const hasNone = facts.isOnNode && !hasOwnProxy(evidence, facts, options);
  const isServer = facts.restartsAlways && start.kind !== "own-ebb" && own === undefined && !hasNone;
  const hook = kindOfHook(container.lifecycle?.preStop);
  const isDrained = isRun(app) && hook.kind === "known";
  const text =
    own === undefined ? (option ?? (isServer && !isDrained ? DEFAULT_DRAIN : "0")) : evidence.env[own.name] || "0";
  const isAlone = options.get("sidecar") === "none";
  const why = own !== undefined ? `it sets ${own.name} itself` : isAlone ? "its sidecar is none" : NO_DRAIN;
  return { text, ms: isAlone ? 0 : msOf(text), option, own, hook, isServer, why: hasNone ? NO_PROXY : why };
}

/** Returns how long a drain that may replace the container's own sleep takes at most. */
function wholeMs({ options }: WithDelay, wish: Wish, facts: PodFacts): number {
  const leastMs = wish.isServer ? msSlept(wish.hook) : 0;
  return wish.ms === 0 ? 0 : fit(Math.max(wish.ms, leastMs), facts, options);
}

function planHook(app: WithDelay, wish: Wish, facts: PodFacts): DrainPlan {
  const times = timesOf(wish, wholeMs(app, wish, facts));
  const sleptMs = msSlept(wish.hook);
  const isHooked = wish.isServer && times.drainMs > 0;
  const isFree = app.container.lifecycle?.preStop == null || canReplace(wish.hook, times.drainMs);
  return {
    ...times,
    kind: !isHooked ? "none" : isFree ? "hook" : "own-hook",
    sleptMs,
    sleep: undefined,
    options: new Map(),
    hook: hookOf({ drain: times.drain, sleptMs }, app.options),
    why: wish.why,
  };
}

function planRun(app: WithDelay, wish: Wish, facts: PodFacts): DrainPlan {
  const { container, options, isGiven } = app;
  const sleptMs = msSlept(wish.hook);
  const wholeTime = wholeMs(app, wish, facts);
  const sleep = wish.isServer && wholeTime > 0 ? fateOfSleep(container, wish.hook, wholeTime) : undefined;
  const least = variableIn(container, "min-drain");
  const following = new Map<string, string>();
  if (sleptMs > 0 && sleep !== "replaced" && facts.grace > 0 && !isGiven("pod-grace"))
    following.set("pod-grace", graceAfter(sleptMs, facts));
  const isLonger = sleep === "replaced" || wish.ms === 0;
  const times = timesOf(wish, isLonger ? wholeTime : fit(wish.ms, facts, new Map([...options, ...following])));
  if (times.drainMs > 0 && wish.own === undefined) following.set("drain", times.drain);
  if (sleep === "replaced" && sleptMs > 0 && least === undefined) following.set("min-drain", leastOf(sleptMs, options));
  const kind = times.drainMs > 0 ? "run" : "none";
  return { ...times, kind, sleptMs, sleep, options: following, hook: [], why: wish.why };
}

/** Returns what becomes of an app's hook that only sleeps, if a drain of `drainMs` is there; undefined for another one. */
function fateOfSleep(container: Container, own: HookKind, drainMs: number): DrainPlan["sleep"] {
  if (own.kind !== "replaceable") return undefined;
  const least = variableIn(container, "min-drain");
  if (!canReplace(own, drainMs)) {
    const left = `terminationGracePeriodSeconds leaves ${wholeSeconds(drainMs)} for a drain`;
    return { whyKept: `as ${left}: raise that, or remove this hook` };
  }
  if (least === undefined || msOf(least.value ?? "") >= msSlept(own)) return "replaced";
  return { whyKept: `as ${least.name} of this container is shorter: raise that, or remove this hook` };
}

function variableIn({ env }: Container, flag: string): EnvVar | undefined {
  const names = variablesOf(flag);
  return (env ?? []).find(({ name }) => names.includes(name));
}

/** The least that the kubelet leaves a container after its hook (minimumGracePeriodInSeconds). */
const LEAST_GRACE_MS = 2000;

/** Returns what is left of the pod's grace period after a hook, when the container gets its stop signal. */
function graceAfter(hookMs: number, { grace }: PodFacts): string {
  return wholeSeconds(Math.max(LEAST_GRACE_MS, grace * 1000 - hookMs));
}

function timesOf({ text, ms, option }: Wish, drainMs: number) {
  const isCut = drainMs < ms;
  const drain = drainMs === ms ? text : wholeSeconds(drainMs);
  return { drain, drainMs, isCut, cutFrom: option !== undefined && isCut ? text : undefined };
}

const NO_DRAIN = "its drain is 0, or its grace period too short for one";
const NO_PROXY = "no proxy of the pod is named on the node's network";

/**
 * Returns the milliseconds that the pod's grace period leaves for draining. `--pod-grace` may make that period shorter,
 * not longer.
 */
export function fit(drainMs: number, facts: PodFacts, options: ReadonlyMap<string, string>): number {
  const [podGrace, grace] = [options.get("pod-grace"), options.get("grace")];
  const ownMs = facts.grace * 1000;
  const podGraceMs = podGrace === undefined ? ownMs : Math.min(ownMs, msOf(podGrace));
  const graceMs = grace === undefined ? undefined : msOf(grace);
  return planShutdown({ drain: drainMs, grace: graceMs, podGrace: podGraceMs }).drainMs;
}

/** Returns the milliseconds of an option's value; 0 if it has none. */
export function msOf(text = ""): number {
  return duration.parse(text) ?? 0;
}

/** Formats milliseconds as an option's value, rounded down to whole seconds from one second on. */
export function wholeSeconds(ms: number): string {
  return ms < 1000 ? `${Math.floor(ms)}ms` : `${Math.floor(ms / 1000)}s`;
}
