import { pickOptions } from "../../cli/options.ts";
import { duration, stopSignals } from "../../cli/syntax.ts";
import { resolve } from "../../cli/values.ts";
import { Failure } from "../../run/exit.ts";
import { planShutdown } from "../../run/shutdown-budget.ts";
import { formatChoice } from "../../sidecars/choice.ts";
import { PLAIN } from "../../sidecars/port-finding.ts";
import { kindOf } from "../../sidecars/registry.ts";
import { shownIn } from "../../sidecars/shown.ts";
import { mountInTheWay } from "../install.ts";
import type { Container, Pod, Remark } from "../pod.ts";
import { variablesOf } from "../pod-annotations.ts";
import type { Chosen } from "./choose.ts";
import { EBB } from "./command.ts";
import { hasOwnProxy, type Surroundings } from "./network.ts";

/** How a container that ebb starts drains when its pod is deleted. */
export interface HookPlan {
  /** `hook`: a preStop hook drains, and `ebb run` does not. `run`: `ebb run` drains, if an option tells it to. */
  readonly kind: "hook" | "run";
  /** The most time that it may take, as an option's value (`60s`); 0: it does not drain. */
  readonly drain: string;
  /** The same in milliseconds. */
  readonly drainMs: number;
  /** Set if the drain that an option asks for was cut to the pod's grace period. */
  readonly warning?: Remark;
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
 * Plans how a container drains: in a preStop hook, or by `ebb run`. It gets a hook if ebb starts its command, the pod's
 * restartPolicy is Always, it has neither a hook nor a variable for the drain of its own, and the pod is not on its
 * node's network without a proxy of its own. The drain is cut to what the pod's grace period leaves.
 *
 * Kubernetes sends its stop signal to all containers at once, each after its own hook: a hook holds up its own
 * container alone.
 */
export function planHook(
  { container, command }: Chosen,
  { pod, surroundings }: { readonly pod: Pod; readonly surroundings: Surroundings },
  options: ReadonlyMap<string, string>,
): HookPlan {
  const said = options.get("drain");
  const names = variablesOf("drain");
  const own = (container.env ?? []).find(({ name }) => names.includes(name));
  const isFree = container.lifecycle?.preStop == null && own === undefined;
  const hasNone = surroundings.isOnNode && !hasOwnProxy(container, surroundings, options);
  const mayHook = isAlwaysRestarted(pod) && command !== undefined && isFree && !hasNone;
  const wish = own === undefined ? (said ?? (mayHook ? DEFAULT_DRAIN : "0")) : (own.value ?? "0");
  const wishMs = options.get("sidecar") === "none" ? 0 : msOf(wish);
  const fitMs = fit(wishMs, pod, options);
  const drain = fitMs === wishMs ? wish : wholeSeconds(fitMs);
  const plan = { kind: mayHook && fitMs > 0 ? "hook" : "run", drain, drainMs: fitMs } as const;
  return said === undefined || fitMs === wishMs ? plan : { ...plan, warning: tooLong(wish, drain, pod) };
}

/**
 * Returns the milliseconds that the pod's grace period leaves for draining. `--pod-grace` may make that period shorter,
 * not longer.
 */
function fit(drainMs: number, pod: Pod, options: ReadonlyMap<string, string>): number {
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
function wholeSeconds(ms: number): string {
  return ms < 1000 ? `${Math.floor(ms)}ms` : `${Math.floor(ms / 1000)}s`;
}

function tooLong(said: string, fitting: string, pod: Pod): Remark {
  return {
    field: "spec.terminationGracePeriodSeconds",
    message: `grace period ${graceOf(pod)}s: the drain is cut from ${said} to ${fitting}, so that the app has time to end`,
  };
}

/** Returns the command of the app container's preStop hook, which drains for at most `drain` (`60s`). */
export function hookOf(drain: string): string[] {
  return [EBB, "drain", `--drain=${drain}`];
}

/** Flags of `ebb drain` that the hook in the proxy's container takes from the pod's options. */
const passedOn = ["admin", "min-drain", "max-in-flight", "log-level", "log-format", "quiet"];

/**
 * Returns the command of the preStop hook of an ordinary proxy, which would otherwise stop long before the app's hook
 * is over. Returns undefined if the container is no proxy that needs one, has a hook already, or has a mount at
 * /ebb.dev.
 */
export function proxyHook(
  container: Container,
  drain: string,
  options: ReadonlyMap<string, string>,
): string[] | undefined {
  const { name, port } = shownIn(container) ?? {};
  if (name === undefined || kindOf(name).needsDrainHook !== true || container.lifecycle?.preStop != null)
    return undefined;
  if (mountInTheWay(container) !== undefined) return undefined;
  const choice = formatChoice({ isAuto: false, named: [{ name, ...(port === undefined ? {} : { port }) }] });
  const passed = name === PLAIN ? ["app-port", ...passedOn] : passedOn; // its admin interface is looked for at ports
  const flags = passed.flatMap((flag) => {
    const text = options.get(flag);
    return text === undefined ? [] : [`--${flag}=${text}`];
  });
  return [EBB, "drain", `--sidecar=${choice}`, ...flags, `--drain=${drain}`];
}

/**
 * Signals that ebb takes as stop signals anyway. The kubelet sends TERM if it does not know the field (before
 * Kubernetes 1.33, or without ContainerStopSignals).
 */
const USUAL = ["TERM", "INT"];

/**
 * Returns the value of --stop-signal for a container with a stop signal in its manifest that is neither TERM nor INT
 * (`QUIT,TERM,INT`). Returns undefined if it has none, or one that ebb cannot catch.
 */
export function stopSignalOf({ lifecycle }: Container): string | undefined {
  const signal = lifecycle?.stopSignal ?? undefined;
  const name = signal?.startsWith("SIG") ? signal.slice("SIG".length) : signal;
  if (name === undefined || USUAL.includes(name) || stopSignals.parse(name) === undefined) return undefined;
  return [name, ...USUAL].join(",");
}

/**
 * Returns a warning if the manifest's stop signal is one that no process can catch, such as SIGKILL; else an empty
 * list.
 */
export function warnOfUncatchableSignal({ lifecycle }: Container, at: number): readonly Remark[] {
  const name = lifecycle?.stopSignal;
  if (name == null || stopSignals.parse(name) !== undefined) return [];
  const message = `ebb cannot catch ${name}, so it neither drains nor quits the sidecars when this container is stopped: expected ${stopSignals.expected}`;
  return [{ field: `spec.containers[${at}].lifecycle.stopSignal`, message }];
}

/**
 * Returns what is wrong with containers, started by ebb, that each quit the sidecars when they end: the first takes
 * them from the others. `isNamed`: the pod names its containers. Returns undefined if at most one does.
 */
export function rivalQuitters(started: readonly Container[], isNamed: boolean): Remark | undefined {
  const quitters = started.filter(quits);
  if (quitters.length < 2) return undefined;
  const names = quitters.map(({ name }) => name).join(", ");
  const never = "annotate it with ebb.dev/quit-on.NAME: never for all but one";
  const message = isNamed
    ? `whichever of ${names} ends first quits the sidecars, also under the others: ${never} if that is not meant`
    : `whichever of ${names} ends first would quit the sidecars that the others still need: name with ebb.dev/containers the one that ends last, or ${never}`;
  return { field: "spec.containers", message };
}

/**
 * Reports whether `ebb run` will quit the sidecars there, by its variables. A value that it will refuse counts as yes.
 */
export function quits({ env }: Container): boolean {
  const variables = Object.fromEntries((env ?? []).map(({ name, value }) => [name, value ?? undefined]));
  try {
    return resolve(pickOptions("quitOn"), { flags: new Map(), env: variables }).values.quitOn !== "never";
  } catch (error) {
    if (error instanceof Failure) return true;
    throw error;
  }
}
