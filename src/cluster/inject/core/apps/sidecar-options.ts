import { pickOptions } from "../../../../shared/cli/core/options.ts";
import type { Environment } from "../../../../shared/core/environment.ts";
import {
  formatChoice,
  type NamedSidecar,
  parseChoice,
  type SidecarChoice,
} from "../../../../shared/sidecars/core/choice.ts";
import { type Detection, isDescribed } from "../../../../shared/sidecars/core/detect.ts";
import type { Annotations } from "../../../../shared/sidecars/core/kinds/kind.ts";
import { foundIn } from "../../../../shared/sidecars/core/plan.ts";
import { isProxy, kindOf, sidecarNames } from "../../../../shared/sidecars/core/registry.ts";
import { NATIVE } from "../annotation-names.ts";
import type { PodFacts } from "../facts/facts.ts";
import { readNativeValue } from "../facts/native-value.ts";
import { type PodSidecar, valuesIn } from "../facts/sidecars.ts";
import { variableOf, variablesOf } from "../pod-annotations.ts";

/** What a container's variables and the pod's annotations tell of the sidecars. */
export interface SidecarEvidence {
  /** Its variables. */
  readonly env: Environment;
  /** The sidecars that these and the pod's annotations show. */
  readonly detected: Detection;
}

/**
 * Returns which sidecars `ebb run` deals with in a container, by its variable or the options. Returns undefined if the
 * variable's value is bad, or elsewhere.
 */
export function choiceIn(env: Environment, options: ReadonlyMap<string, string>): SidecarChoice | undefined {
  return parseChoice(env[variableOf("sidecar")] ?? options.get("sidecar") ?? "auto");
}

/**
 * How long `auto` looks for a proxy that is in the pod, but that nothing names: its image may come later than the app's.
 */
const LATE_PROXY = "1m";

/**
 * Returns the options by which `ebb run` learns of the sidecars that the manifest shows, and that `auto` would not find in
 * this container by annotations and variables. `sidecar` names them: beside `auto`, but alone on the node's network, where
 * no port is believed. `quit` adds those of further sidecars of a kind. One that cannot be told to quit is not named:
 * nothing shows whether it is ready, either. `given`: options that the user says.
 */
export function sidecarOptions(
  { env, detected }: SidecarEvidence,
  { isOnNode, sidecars, annotations }: PodFacts,
  given: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> {
  const options = new Map<string, string>();
  const proxies = sidecars.filter(({ name }) => isProxy(name));
  const usable = sidecars.filter((one) => one.problem === undefined && isKnownNative(one, annotations));
  if (isOnNode && proxies.length > 0)
    return options.set("sidecar", formatChoice({ isAuto: false, named: named(usable) }));
  if (describesAll(env, given)) return options;
  const { found, hasProxy } = detected;
  const isAtAdmin = given.has("admin") || variablesOf("admin").some((name) => (env[name] ?? "") !== "");
  const unfound = usable.filter(({ name }) => !found.some((one) => one.name === name) && !(isAtAdmin && isProxy(name)));
  if (unfound.length > 0) options.set("sidecar", formatChoice({ isAuto: true, named: named(unfound) }));
  const isLate = proxies.length > 0 && !hasProxy && !unfound.some(({ name }) => isProxy(name));
  if (isLate) options.set("detect-timeout", LATE_PROXY);
  const quits = furtherQuits(unfound);
  if (quits.length > 0) options.set("quit", quits.join(","));
  return options;
}

/** Reports false for a native sidecar if the pod's own ebb.dev/native leaves it out: `ebb run` would tell it to quit. */
function isKnownNative({ at, name }: PodSidecar, annotations: Annotations): boolean {
  if (at !== undefined || readNativeValue(annotations.get(NATIVE) ?? "").names.length === 0) return true;
  return foundIn({ env: {}, annotations }, [name]).every(({ isNative }) => isNative);
}

/** Returns the first sidecar of each kind, in the registry's order. */
function named(sidecars: readonly PodSidecar[]): readonly NamedSidecar[] {
  return sidecarNames.flatMap((name) => sidecars.find((one) => one.name === name) ?? []);
}

/** Returns a quit for each ordinary sidecar whose kind another one has before it, at another port. */
function furtherQuits(sidecars: readonly PodSidecar[]): readonly string[] {
  return sidecars.flatMap(({ name, at, port }) => {
    const first = sidecars.find((one) => one.name === name);
    if (at === undefined || port === undefined || port === first?.port) return [];
    return [`+POST http://localhost:${port}${kindOf(name).quitPath}`];
  });
}

/** Reports whether the user says both what to wait for and what to quit. A bad value counts as yes. */
function describesAll(env: Environment, given: ReadonlyMap<string, string>): boolean {
  const fromFlags = Object.fromEntries([...given].map(([flag, text]) => [variableOf(flag), text]));
  const values = valuesIn({ ...fromFlags, ...env }, pickOptions("admin", "ready", "quit", "signalProcess"));
  return values === undefined || isDescribed(values, env);
}

/**
 * Reports whether something other than a port tells which proxy is this container's: the pod's containers, its
 * annotations, a variable, an option.
 */
export function hasOwnProxy(
  { env, detected }: SidecarEvidence,
  { sidecars }: PodFacts,
  options: ReadonlyMap<string, string>,
): boolean {
  const isSaid = (flag: string) => options.has(flag) || variablesOf(flag).some((name) => name in env);
  if (sidecars.some(({ name }) => isProxy(name)) || isSaid("admin")) return true;
  const choice = choiceIn(env, options);
  if (choice === undefined || choice.named.some(({ name }) => isProxy(name))) return true;
  return choice.isAuto ? detected.hasProxy : choice.named.length > 0;
}
