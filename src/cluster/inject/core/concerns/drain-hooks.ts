import { boolean } from "../../../../shared/cli/core/syntax.ts";
import { fitMinimum } from "../../../../shared/core/shutdown-budget.ts";
import { formatChoice, type NamedSidecar, parseChoice } from "../../../../shared/sidecars/core/choice.ts";
import { PLAIN } from "../../../../shared/sidecars/core/identify.ts";
import { kindOf, type SidecarName } from "../../../../shared/sidecars/core/registry.ts";
import { type App, runsEbb } from "../apps/app.ts";
import { fit, msOf, wholeSeconds } from "../apps/drain.ts";
import { networkOptions } from "../apps/options.ts";
import { canReplace, type HookTimes, leastOf, msSlept } from "../apps/pre-stop.ts";
import { unnamedOf } from "../apps/unnamed.ts";
import type { Edit } from "../edits/edit.ts";
import { EBB, EBB_FOLDER } from "../facts/command.ts";
import { kindOfHook } from "../facts/existing-hooks.ts";
import type { PodFacts } from "../facts/facts.ts";
import { mountIn } from "../facts/mounts.ts";
import { hasVariable, variablesIn } from "../facts/sidecars.ts";
import type { Hook } from "../pod.ts";
import { flagsOf, variableOf } from "../pod-annotations.ts";
import type { Concern, Note, Plan } from "./concern.ts";
import { mountEbb } from "./install.ts";

/** In servers, preStop hooks drain: those of the apps, and of ordinary proxies, so that these stay until then. */
export const drainHooks: Concern = (facts, apps) => {
  const hooked = apps.filter(({ drain }) => drain.kind === "hook");
  const ofProxies = hooksOfProxies(facts, apps);
  return {
    edits: [
      ...hooked.map(({ name, drain }) => ({ kind: "hook", container: name, command: drain.hook }) as const),
      ...ofProxies.edits,
    ],
    warnings: [...apps.flatMap((app) => warningsOn(app, facts)), ...ofProxies.warnings],
  };
};

function warningsOn(app: App, { grace }: PodFacts): readonly Note[] {
  const { name, container, start, options } = app;
  const { kind, drain, drainMs, hook, cutFrom } = app.drain;
  const message = `grace period ${grace}s: the drain is shortened from ${cutFrom} to ${drain}, so that the app has time to end`;
  const cut = cutFrom === undefined ? [] : [{ field: "spec.terminationGracePeriodSeconds", message }];
  const isDrained = options.has("drain") && start.kind === "wrapped";
  const least = kind === "hook" || isDrained ? remarkOnMinimum(app, grace) : [];
  if (kind === "none") return [...cut, ...least];
  return [
    ...cut,
    ...least,
    ...remarkOnHook(name, container.lifecycle?.preStop, { drain, drainMs, command: hook, isDrained }),
  ];
}

/**
 * Returns what to say of a --min-drain that the drain shortens: the pod then stops accepting before its clients have
 * left.
 */
function remarkOnMinimum({ name, container, options, drain: plan }: App, grace: number): readonly Note[] {
  const { drain, drainMs, isCut } = plan;
  const minMs = hasVariable(container, variableOf("min-drain")) ? 0 : msOf(options.get("min-drain"));
  const fitsMs = fitMinimum(minMs, drainMs);
  if (drainMs === 0 || fitsMs >= minMs) return [];
  const raise = isCut ? `terminationGracePeriodSeconds, which is ${grace}s` : "drain";
  const message = `min-drain ${wholeSeconds(minMs)} does not fit into the drain of ${drain}, and is shortened to ${wholeSeconds(fitsMs)}: raise ${raise}`;
  return [{ container: name, field: "", message }];
}

/** Plans drain hooks of ordinary proxies. */
function hooksOfProxies(facts: PodFacts, apps: readonly App[]): Pick<Plan, "edits" | "warnings"> {
  const edits: Edit[] = [];
  const warnings: Note[] = [];
  const withEbb = apps.filter(runsEbb);
  const longest = withEbb.toSorted((a, b) => b.drain.drainMs - a.drain.drainMs)[0]?.drain;
  const isMounted = withEbb.some((app) => app.isMounted);
  if (longest === undefined || longest.drainMs === 0 || !isMounted || !facts.restartsAlways) return { edits, warnings };
  const slept = Math.max(...withEbb.map(({ drain }) => drain.sleptMs));
  const options = new Map([...networkOptions(facts), ...facts.policy.options, ...facts.requested.options]);
  const names = new Set(withEbb.map(({ name }) => name));
  const others = facts.containers.filter((one) => !facts.moves.moved.has(one) && !names.has(one.name));
  for (const { name, container, sidecar } of others) {
    const isHooked = sidecar !== undefined && kindOf(sidecar.name).needsDrainHook === true;
    if (!isHooked || mountIn(EBB_FOLDER, container) !== undefined) continue;
    const port = sidecar.port ?? portIn(options, sidecar.name);
    const named = { name: sidecar.name, ...(port !== undefined && { port }) };
    if (unnamedOf([named], { env: variablesIn(container), options, facts }, ["drain"]).length > 0) {
      const isSaid = withEbb.some(({ unnamed }) => unnamed.includes(sidecar.name));
      const message = `it gets no drain hook: nothing names its port for that on the node's network; set ebb.dev/sidecar: ${sidecar.name}:PORT`;
      if (!isSaid) warnings.push({ container: name, field: "lifecycle.preStop", message });
      continue;
    }
    const own = container.lifecycle?.preStop;
    const isLonger = msSlept(own) > longest.drainMs;
    const drainMs = isLonger ? fit(msSlept(own), facts, options) : longest.drainMs;
    const drain = isLonger ? wholeSeconds(drainMs) : longest.drain;
    const sleptMs = Math.min(Math.max(slept, msSlept(own)), drainMs);
    const command = proxyHook(named, { drain, sleptMs }, options);
    warnings.push(...remarkOnHook(name, own, { drain, drainMs, command, isDrained: false }));
    if (canReplace(own, drainMs)) edits.push(mountEbb(name, facts), { kind: "hook", container: name, command });
  }
  return { edits, warnings };
}

/** Returns the port that the pod's options name beside a sidecar. */
function portIn(options: ReadonlyMap<string, string>, name: SidecarName): number | undefined {
  return parseChoice(options.get("sidecar") ?? "")?.named.find((one) => one.name === name)?.port;
}

/** Flags of `ebb drain` that the hook in the proxy's container takes from the pod's options. */
const inheritedFlags = ["admin", "min-drain", "max-in-flight", "log-level", "log-format", "quiet"];

/** Returns the command of the hook of an ordinary proxy, which would otherwise stop long before the app's hook is over. */
function proxyHook(
  sidecar: NamedSidecar,
  { drain, sleptMs }: HookTimes,
  options: ReadonlyMap<string, string>,
): string[] {
  const own = sleptMs === 0 ? options : new Map(options).set("min-drain", leastOf(sleptMs, options));
  const passed = sidecar.name === PLAIN ? ["app-port", ...inheritedFlags] : inheritedFlags; // its admin interface is looked for at ports
  const isQuiet = boolean.parse(own.get("quiet") ?? "") === true;
  const flags = passed.flatMap((flag) => {
    const text = flag === "log-level" && isQuiet ? undefined : own.get(flag); // as flags they exclude each other
    return text === undefined ? [] : flagsOf(flag, text);
  });
  return [EBB, "drain", `--sidecar=${formatChoice({ isAuto: false, named: [sidecar] })}`, ...flags, `--drain=${drain}`];
}

/** What is known of the drain where a container has a hook of its own. */
interface Drain {
  readonly drain: string;
  readonly drainMs: number;
  /** The command of the hook that ebb would add. */
  readonly command: readonly string[];
  /** Whether `ebb run` drains after the container's own hook. */
  readonly isDrained: boolean;
}

/** Returns what to say of a container's own hook, if ebb replaces it, or does not add one because of it. */
function remarkOnHook(container: string, own: Hook | null | undefined, drain: Drain): readonly Note[] {
  const message = own == null ? undefined : messageOn(own, drain);
  return message === undefined ? [] : [{ container, field: "lifecycle.preStop", message }];
}

function messageOn(own: Hook, { drain, drainMs, command, isDrained }: Drain): string | undefined {
  const what = kindOfHook(own);
  const after = isDrained ? "ebb run drains only after it has ended" : "nothing drains";
  if (what.kind === "replaceable" && canReplace(own, drainMs))
    return `replaced "${what.shown}" by ${["ebb", ...command.slice(1)].join(" ")}`;
  if (what.kind === "replaceable")
    return `kept "${what.shown}", which is longer than the ${drain} that terminationGracePeriodSeconds leaves for a drain: raise that, or remove this hook, and ebb drain takes its place; until then ${after}`;
  if (what.kind === "asks-sidecar")
    return `it asks a sidecar at ${what.path}: it stays, and ${after}; remove it, and ebb drain takes its place (ebb drain --then-quit and ebb quit end sidecars)`;
  if (what.kind === "known" || isDrained) return undefined;
  return `it stays, and ${after}: call ${EBB} drain --drain=${drain} in it, or remove it, and ebb drain takes its place`;
}
