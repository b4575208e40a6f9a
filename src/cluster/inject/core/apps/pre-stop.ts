import { duration } from "../../../../shared/cli/core/syntax.ts";
import { EBB } from "../facts/command.ts";
import type { HookKind } from "../facts/existing-hooks.ts";

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
export function leastOf(sleptMs: number, options: ReadonlyMap<string, string>): string {
  const ms = Math.max(sleptMs, duration.parse(options.get("min-drain") ?? "0") ?? 0);
  return ms % 1000 === 0 ? `${ms / 1000}s` : `${ms}ms`;
}

/** Returns how long a container's own hook sleeps, in milliseconds, if it does nothing else; else 0. */
export function msSlept(own: HookKind): number {
  return own.kind === "replaceable" ? Math.ceil(own.seconds * 1000) : 0;
}

/** Reports whether a drain of `drainMs` at most may take the place of a container's own hook. */
export function canReplace(own: HookKind, drainMs: number): boolean {
  return own.kind === "replaceable" && msSlept(own) <= drainMs;
}
