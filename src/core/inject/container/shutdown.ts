import { pickOptions } from "../../cli/options.ts";
import { duration, stopSignals } from "../../cli/syntax.ts";
import { planShutdown } from "../../run/shutdown-budget.ts";
import { isForwarded, parseSignal, usualStops } from "../../run/signal.ts";
import type { Container, Pod, Remark } from "../pod.ts";
import { variablesOf } from "../pod-annotations.ts";
import type { Chosen } from "./choose.ts";
import { hasOwnProxy, type Surroundings } from "./network.ts";
import { canReplace, hookOf, msSlept, remarkOnHook } from "./pre-stop.ts";
import { valuesIn, variablesIn } from "./sidecars.ts";

/** How a container drains when its pod is deleted. */
export interface HookPlan {
  /**
   * `hook`: a preStop hook drains, and `ebb run` does not. `own-hook`: the container's own hook stays. `none`: it gets no
   * hook. With these two `ebb run` drains, if it starts the container, and if an option tells it to.
   */
  readonly kind: "hook" | "own-hook" | "none";
  /** The most time that it may take, as an option's value (`60s`); 0: it does not drain. */
  readonly drain: string;
  /** The same in milliseconds. */
  readonly drainMs: number;
  /** How long the container's own hook sleeps, if it does nothing else, in milliseconds; else 0. */
  readonly sleptMs: number;
  /** The command of the hook, if there is one. */
  readonly hook: string[];
  /** What became of the container's own hook, and whether the drain that an option asks for was cut. */
  readonly warnings: readonly Remark[];
  /** Why there is no hook in a server, if `kind` is `none`. */
  readonly why: string;
}

/** How long a hook's drain may take if no option says it. */
const DEFAULT_DRAIN = "60s";
/** Kubernetes' default terminationGracePeriodSeconds. */
const DEFAULT_GRACE = 30;

/** Returns a pod's grace period in seconds. */
export function graceOf({ spec }: Pod): number {
  return spec.terminationGracePeriodSeconds ?? DEFAULT_GRACE;
}

/**
 * Plans how a container drains: in a preStop hook, or by `ebb run`. It gets a hook if it starts no ebb of its own, the
 * pod's restartPolicy is Always, it has no variable for the drain of its own, its own hook does not do more than sleep,
 * and the pod is not on its node's network without a proxy of its own. The drain is at least as long as that sleep, and cut
 * to what the pod's grace period leaves.
 *
 * Kubernetes sends its stop signal to all containers at once, each after its own hook: a hook holds up its own
 * container alone.
 */
export function planHook(
  { at, container, start }: Chosen,
  { pod, surroundings }: { readonly pod: Pod; readonly surroundings: Surroundings },
  options: ReadonlyMap<string, string>,
): HookPlan {
  const said = options.get("drain");
  const names = variablesOf("drain");
  const own = (container.env ?? []).find(({ name }) => names.includes(name));
  const hasNone = surroundings.isOnNode && !hasOwnProxy(container, surroundings, options);
  const mayHook = isAlwaysRestarted(pod) && start.kind !== "own-ebb" && own === undefined && !hasNone;
  const wish = own === undefined ? (said ?? (mayHook ? DEFAULT_DRAIN : "0")) : (own.value ?? "0");
  const isAlone = options.get("sidecar") === "none";
  const wishMs = isAlone ? 0 : msOf(wish);
  const former = container.lifecycle?.preStop;
  const sleptMs = msSlept(former);
  const drainMs = wishMs === 0 ? 0 : fit(mayHook ? Math.max(wishMs, sleptMs) : wishMs, pod, options);
  const drain = drainMs === wishMs ? wish : wholeSeconds(drainMs);
  const hook = hookOf({ drain, sleptMs }, options);
  const hasHook = mayHook && drainMs > 0;
  const warnings = said === undefined || drainMs >= wishMs ? [] : [tooLong(wish, drain, pod)];
  const isDrained = said !== undefined && start.kind === "wrapped";
  if (hasHook) warnings.push(...remarkOnHook(former, { at, drain, drainMs, command: hook, isDrained }));
  const kind = !hasHook ? "none" : canReplace(former, drainMs) ? "hook" : "own-hook";
  const why = own !== undefined ? `it sets ${own.name} itself` : isAlone ? "its sidecar is none" : NO_DRAIN;
  return { kind, drain, drainMs, sleptMs, hook, warnings, why: hasNone ? NO_PROXY : why };
}

const NO_DRAIN = "its drain is 0, or its grace period too short for one";
const NO_PROXY = "no proxy of the pod is named on the node's network";

/**
 * Returns the milliseconds that the pod's grace period leaves for draining. `--pod-grace` may make that period shorter,
 * not longer.
 */
export function fit(drainMs: number, pod: Pod, options: ReadonlyMap<string, string>): number {
  const [said, grace] = [options.get("pod-grace"), options.get("grace")];
  const ownMs = graceOf(pod) * 1000;
  const podGraceMs = said === undefined ? ownMs : Math.min(ownMs, msOf(said));
  return planShutdown({ drainMs, graceMs: grace === undefined ? undefined : msOf(grace), podGraceMs }).drainMs;
}

/** Reports whether a pod's containers are restarted whenever they end, as servers are: its restartPolicy is Always. */
export function isAlwaysRestarted({ spec }: Pod): boolean {
  return (spec.restartPolicy ?? "Always") === "Always";
}

function msOf(text = ""): number {
  return duration.parse(text) ?? 0;
}

/** Formats milliseconds as an option's value, rounded down to whole seconds from one second on. */
export function wholeSeconds(ms: number): string {
  return ms < 1000 ? `${Math.floor(ms)}ms` : `${Math.floor(ms / 1000)}s`;
}

function tooLong(said: string, fitting: string, pod: Pod): Remark {
  return {
    field: "spec.terminationGracePeriodSeconds",
    message: `grace period ${graceOf(pod)}s: the drain is cut from ${said} to ${fitting}, so that the app has time to end`,
  };
}

/**
 * Signals that ebb takes as stop signals anyway. The kubelet sends TERM if it does not know the field (before
 * Kubernetes 1.33, or without ContainerStopSignals).
 */
const USUAL = ["TERM", "INT"];

/**
 * Returns the value of --stop-signal for a container whose stop signal is neither TERM nor INT (`QUIT,TERM,INT`). The
 * manifest's wins over `ofImage`, the image's STOPSIGNAL (`SIGQUIT`, `3`). Returns undefined if it has none, or one that
 * ebb cannot catch.
 */
export function stopSignalOf({ lifecycle }: Container, ofImage: string | undefined): string | undefined {
  const name = (lifecycle?.stopSignal ?? ofImage)?.replace(/^SIG/, "");
  const signal = name === undefined ? undefined : parseSignal(name);
  if (signal === undefined || !isForwarded(signal) || usualStops.includes(signal)) return undefined;
  return [name, ...USUAL].join(",");
}

/**
 * Returns a warning if a container's stop signal is one that no process can catch, such as SIGKILL; else an empty list.
 */
export function warnOfUncatchableSignal(
  { lifecycle }: Container,
  at: number,
  ofImage: string | undefined,
): readonly Remark[] {
  const name = lifecycle?.stopSignal ?? ofImage;
  if (name == null || stopSignals.parse(name) !== undefined) return [];
  const field = lifecycle?.stopSignal == null ? "image" : "lifecycle.stopSignal";
  const message = `ebb cannot catch ${name}, so it neither drains nor quits the sidecars when this container is stopped: expected ${stopSignals.expected}`;
  return [{ field: `spec.containers[${at}].${field}`, message }];
}

/**
 * Reports whether `ebb run` will quit the sidecars there, by its variables. A value that it will refuse counts as yes.
 */
export function quits(container: Container): boolean {
  const values = valuesIn(variablesIn(container), pickOptions("quitOn", "restartPolicy"));
  return values?.quitOn !== "never" && values?.restartPolicy !== "Always";
}

/** Reports whether variables leave out the proxy's quit (`--quit none`), with nothing instead. */
export function sparesProxy(container: Container): boolean {
  const { quit = [], signalProcess = [] } =
    valuesIn(variablesIn(container), pickOptions("quit", "signalProcess")) ?? {};
  return quit.length > 0 && quit.every((one) => one === "none") && signalProcess.length === 0;
}
