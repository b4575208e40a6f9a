import { duration } from "../../cli/syntax.ts";
import { formatChoice } from "../../sidecars/choice.ts";
import { PLAIN } from "../../sidecars/port-finding.ts";
import { kindOf } from "../../sidecars/registry.ts";
import { shownIn } from "../../sidecars/shown.ts";
import { kindOfHook } from "../by-hand.ts";
import { mountInTheWay } from "../install.ts";
import type { Container, Hook, Remark } from "../pod.ts";
import { flagsOf } from "../pod-annotations.ts";
import { EBB } from "./command.ts";

/** How long a hook drains. */
export interface HookTimes {
  /** At most, as an option's value: `60s`. */
  readonly drain: string;
  /** At least, in milliseconds, because the hook that it replaces slept for so long; 0: as `options` or ebb say. */
  readonly sleptMs: number;
}

/** Returns the command of the app container's preStop hook. */
export function hookOf({ drain, sleptMs }: HookTimes, options: ReadonlyMap<string, string>): string[] {
  const least = sleptMs === 0 ? [] : [`--min-drain=${leastOf(sleptMs, options)}`];
  return [EBB, "drain", ...least, `--drain=${drain}`];
}

/** Returns the value of --min-drain that is at least as long as a sleep and as what the options say. */
function leastOf(sleptMs: number, options: ReadonlyMap<string, string>): string {
  const ms = Math.max(sleptMs, duration.parse(options.get("min-drain") ?? "0") ?? 0);
  return ms % 1000 === 0 ? `${ms / 1000}s` : `${ms}ms`;
}

/** Flags of `ebb drain` that the hook in the proxy's container takes from the pod's options. */
const passedOn = ["admin", "min-drain", "max-in-flight", "log-level", "log-format", "quiet"];

/**
 * Returns the command of the preStop hook of an ordinary proxy, which would otherwise stop long before the app's hook
 * is over. Returns undefined if the container is no proxy that needs one, or has a mount at /ebb.dev.
 */
export function proxyHook(
  container: Container,
  { drain, sleptMs }: HookTimes,
  options: ReadonlyMap<string, string>,
): string[] | undefined {
  const sidecar = shownIn(container);
  if (sidecar === undefined || kindOf(sidecar.name).needsDrainHook !== true) return undefined;
  if (mountInTheWay(container) !== undefined) return undefined;
  const own = sleptMs === 0 ? options : new Map(options).set("min-drain", leastOf(sleptMs, options));
  const passed = sidecar.name === PLAIN ? ["app-port", ...passedOn] : passedOn; // its admin interface is looked for at ports
  const flags = passed.flatMap((flag) => {
    const text = own.get(flag);
    return text === undefined ? [] : flagsOf(flag, text);
  });
  return [EBB, "drain", `--sidecar=${formatChoice({ isAuto: false, named: [sidecar] })}`, ...flags, `--drain=${drain}`];
}

/** Returns how long a container's own hook sleeps, in milliseconds, if it does nothing else; else 0. */
export function msSlept(own: Hook | null | undefined): number {
  const what = kindOfHook(own);
  return what.kind === "sleep" ? Math.ceil(what.seconds * 1000) : 0;
}

/** Reports whether a drain of `drainMs` at most may take the place of a container's own hook. */
export function canReplace(own: Hook | null | undefined, drainMs: number): boolean {
  return own == null || (kindOfHook(own).kind === "sleep" && msSlept(own) <= drainMs);
}

/** What is known of the drain where a container has a hook of its own. */
interface Drain {
  /** The container's index. */
  readonly at: number;
  readonly drain: string;
  readonly drainMs: number;
  /** The command of the hook that ebb would add. */
  readonly command: readonly string[];
  /** Whether `ebb run` drains after the container's own hook. */
  readonly isDrained: boolean;
}

/** Returns what to say of a container's own hook, if ebb replaces it, or does not add one because of it. */
export function remarkOnHook(own: Hook | null | undefined, drain: Drain): readonly Remark[] {
  const message = own == null ? undefined : messageOn(own, drain);
  return message === undefined ? [] : [{ field: `spec.containers[${drain.at}].lifecycle.preStop`, message }];
}

function messageOn(own: Hook | null | undefined, { drain, drainMs, command, isDrained }: Drain): string | undefined {
  const what = kindOfHook(own);
  const after = isDrained ? "ebb run drains only when it has ended" : "nothing drains";
  if (what.kind === "sleep" && canReplace(own, drainMs))
    return `replaced "sleep ${what.seconds}" by ${["ebb", ...command.slice(1)].join(" ")}`;
  if (what.kind === "sleep")
    return `it sleeps for ${what.seconds}s, and the pod's grace period leaves a drain ${drain}: it stays, and ${after}; raise terminationGracePeriodSeconds, or remove it, and ebb drain takes its place`;
  if (what.kind === "asks-sidecar")
    return `it asks a sidecar at ${what.path}: it stays, and ${after}; remove it, and ebb drain takes its place (ebb drain --quit and ebb quit end sidecars)`;
  if (what.kind === "known" || isDrained) return undefined;
  return `it stays, and ${after}: call ${EBB} drain --drain=${drain} in it, or remove it, and ebb drain takes its place`;
}
