import { fitMinimum } from "../../../../shared/core/shutdown-budget.ts";
import type { App } from "../apps/app.ts";
import { msOf, wholeSeconds } from "../apps/drain.ts";
import { canReplace } from "../apps/pre-stop.ts";
import type { Edit } from "../edits/edit.ts";
import { EBB } from "../facts/command.ts";
import { hasVariable } from "../facts/env.ts";
import { kindOfHook } from "../facts/existing-hooks.ts";
import type { Hook } from "../pod.ts";
import { variableOf } from "../pod-annotations.ts";
import type { Concern, Note } from "./concern.ts";

/**
 * In servers, apps drain before they get their stop signal: by `ebb run`, in the place of an own hook that only sleeps;
 * where ebb does not start the app, by a preStop hook.
 */
export const drainHooks: Concern = ({ grace }, apps) => ({
  edits: apps.flatMap(editsOf),
  warnings: apps.flatMap((app) => warningsOn(app, grace)),
});

function editsOf({ name, drain }: App): readonly Edit[] {
  if (drain.kind === "hook") return [{ kind: "hook", container: name, command: drain.hook }];
  return drain.sleep === "replaced" ? [{ kind: "hook", container: name, command: undefined }] : [];
}

function warningsOn(app: App, grace: number): readonly Note[] {
  const { name, container } = app;
  const { kind, drain, drainMs, hook, cutFrom } = app.drain;
  const message = `grace period ${grace}s: the drain is shortened from ${cutFrom} to ${drain}, so that the app has time to end`;
  const cut = cutFrom === undefined ? [] : [{ field: "spec.terminationGracePeriodSeconds", message }];
  const own = container.lifecycle?.preStop;
  if (kind === "none") return cut;
  if (kind === "run")
    return [...cut, ...remarkOnMinimum(app, grace), ...noteOnHook(name, messageBesideRun(app, grace))];
  const least = kind === "hook" ? remarkOnMinimum(app, grace) : [];
  return [
    ...cut,
    ...least,
    ...noteOnHook(name, own == null ? undefined : messageOn(own, { drain, drainMs, command: hook })),
  ];
}

/**
 * Returns what to say of a --min-drain that the drain shortens: the pod then stops accepting before its clients have
 * left. Who gives both the same time lets the app end what is left.
 */
function remarkOnMinimum({ name, container, given, isGiven, drain: plan }: App, grace: number): readonly Note[] {
  const { drain, drainMs, isCut } = plan;
  const minMs = hasVariable(container, variableOf("min-drain")) ? 0 : msOf(given.all.get("min-drain"));
  if (minMs < drainMs || (minMs === drainMs && isGiven("drain"))) return [];
  const raise = isCut ? `terminationGracePeriodSeconds, which is ${grace}s` : "drain";
  const message = `min-drain ${wholeSeconds(minMs)} does not fit into the drain of ${drain}, and is shortened to ${wholeSeconds(fitMinimum(minMs, drainMs))}: raise ${raise}`;
  return [{ container: name, field: "", message }];
}

/** Returns a note on a container's own hook. */
export function noteOnHook(container: string, message: string | undefined): readonly Note[] {
  return message === undefined ? [] : [{ container, field: "lifecycle.preStop", message }];
}

/** Returns what to say of an app's own hook, after which `ebb run` drains, or which its drain replaces. */
function messageBesideRun({ container, drain: plan, isGiven, name }: App, grace: number): string | undefined {
  const { drain, sleep, options } = plan;
  const own = container.lifecycle?.preStop;
  const what = kindOfHook(own);
  if (own == null || what.kind === "known") return undefined;
  if (what.kind === "replaceable") {
    if (sleep === undefined) return undefined;
    if (sleep !== "replaced")
      return `kept "${what.shown}", ${sleep.whyKept}; until then ebb run drains only after it, for ${drain} at most`;
    const set = ["min-drain", "drain"].flatMap((flag) =>
      options.has(flag) ? [`${variableOf(flag)}=${options.get(flag)}`] : [],
    );
    return `replaced "${what.shown}" by the drain of ebb run: ${set.join(", ")}`;
  }
  if (what.kind === "asks-sidecar")
    return `it asks a sidecar at ${what.path}: it stays, and ebb run drains only after it has ended; remove it, and ebb run drains at once (ebb quit ends sidecars)`;
  if (isGiven("pod-grace")) return undefined;
  return `ebb run drains after this hook, and both must fit into terminationGracePeriodSeconds (${grace}s): set ebb.dev/pod-grace.${name} to that less the time of this hook`;
}

/** What is known of the drain where a container has a hook of its own. */
interface HookDrain {
  readonly drain: string;
  readonly drainMs: number;
  /** The command of the hook that ebb would add. */
  readonly command: readonly string[];
}

/** Returns what to say of a container's own hook, if `ebb drain` replaces it, or is not added because of it. */
export function messageOn(own: Hook, { drain, drainMs, command }: HookDrain): string | undefined {
  const what = kindOfHook(own);
  if (what.kind === "replaceable" && canReplace(what, drainMs))
    return `replaced "${what.shown}" by ${["ebb", ...command.slice(1)].join(" ")}`;
  if (what.kind === "replaceable")
    return `kept "${what.shown}", as terminationGracePeriodSeconds leaves ${drain} for a drain: raise that, or remove this hook, and ebb drains`;
  if (what.kind === "asks-sidecar")
    return `it asks a sidecar at ${what.path}: it stays, and nothing drains; remove it, and ebb drain takes its place (ebb drain --then-quit and ebb quit end sidecars)`;
  if (what.kind === "known") return undefined;
  return `it stays, and nothing drains: call ${EBB} drain --drain=${drain} in it, or remove it, and ebb drain takes its place`;
}
