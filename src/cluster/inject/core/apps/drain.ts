import { duration } from "../../../../shared/cli/core/syntax.ts";
import { planShutdown } from "../../../../shared/core/shutdown-budget.ts";
import type { AppContainer } from "../facts/container-facts.ts";
import type { PodFacts } from "../facts/facts.ts";
import { variablesOf } from "../pod-annotations.ts";
import { canReplace, hookOf, msSlept } from "./pre-stop.ts";
import { hasOwnProxy, type SidecarEvidence } from "./sidecar-options.ts";

/** How a container drains when its pod is deleted. */
export interface DrainPlan {
  /**
   * `hook`: a preStop hook drains, and `ebb run` does not. `own-hook`: the container's own hook stays. `none`: it gets no
   * hook. With these two `ebb run` drains, if it starts the container, and if an option tells it to.
   */
  readonly kind: "hook" | "own-hook" | "none";
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
  /** The command of the hook, if there is one. */
  readonly hook: string[];
  /** Why there is no hook in a server, if `kind` is `none`. */
  readonly why: string;
}

/** How long a hook's drain may take if no option says it. */
const DEFAULT_DRAIN = "60s";

/**
 * Plans how a container drains: in a preStop hook, or by `ebb run`. It gets a hook if
 *
 * - the pod's restartPolicy is Always;
 * - it starts no ebb of its own;
 * - it has no variable that sets the drain;
 * - its own hook, if there is one, only sleeps;
 * - the pod is not on its node's network, or has a proxy of its own there.
 *
 * The drain is at least as long as that sleep, and cut to what the pod's grace period leaves.
 *
 * Kubernetes sends its stop signal to all containers at once, each after its own hook: a hook holds up its own
 * container alone.
 */
export function planDrain(
  { container, start }: AppContainer,
  evidence: SidecarEvidence,
  options: ReadonlyMap<string, string>,
  facts: PodFacts,
): DrainPlan {
  const option = options.get("drain");
  const names = variablesOf("drain");
  const own = (container.env ?? []).find(({ name }) => names.includes(name));
  const hasNone = facts.isOnNode && !hasOwnProxy(evidence, facts, options);
  const mayHook = facts.restartsAlways && start.kind !== "own-ebb" && own === undefined && !hasNone;
  const wish = own === undefined ? (option ?? (mayHook ? DEFAULT_DRAIN : "0")) : (own.value ?? "0");
  const isAlone = options.get("sidecar") === "none";
  const wishMs = isAlone ? 0 : msOf(wish);
  const former = container.lifecycle?.preStop;
  const sleptMs = msSlept(former);
  const drainMs = wishMs === 0 ? 0 : fit(mayHook ? Math.max(wishMs, sleptMs) : wishMs, facts, options);
  const drain = drainMs === wishMs ? wish : wholeSeconds(drainMs);
  const isCut = drainMs < wishMs;
  const hasHook = mayHook && drainMs > 0;
  const why = own !== undefined ? `it sets ${own.name} itself` : isAlone ? "its sidecar is none" : NO_DRAIN;
  return {
    ...{ drain, drainMs, isCut, sleptMs },
    kind: !hasHook ? "none" : canReplace(former, drainMs) ? "hook" : "own-hook",
    cutFrom: option !== undefined && isCut ? wish : undefined,
    hook: hookOf({ drain, sleptMs }, options),
    why: hasNone ? NO_PROXY : why,
  };
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
