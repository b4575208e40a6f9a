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
import { isProxy, kindOf, type SidecarName, sidecarNames } from "../../../../shared/sidecars/core/registry.ts";
import { NATIVE } from "../annotation-names.ts";
import type { PodFacts } from "../facts/facts.ts";
import { readNativeValue } from "../facts/native-value.ts";
import type { PodSidecar } from "../facts/sidecars.ts";
import { variableOf, variablesOf } from "../pod-annotations.ts";
import { type Saying, unnamedOf, urlsIn } from "./unnamed.ts";

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

/** Options by flag, and the sidecars that these leave out: on the node's network nothing names where they are. */
export interface SidecarOptions {
  readonly options: ReadonlyMap<string, string>;
  readonly unnamed: readonly SidecarName[];
}

/** Returns the options of the user (`given`), after those by which `ebb run` learns of the sidecars. */
export function sidecarOptions(
  evidence: SidecarEvidence,
  facts: PodFacts,
  given: ReadonlyMap<string, string>,
): SidecarOptions {
  const shown = shownOptions(evidence, facts, given);
  const options = new Map([...shown.options, ...given]);
  if (variableOf("sidecar") in evidence.env) return { options, unnamed: [] }; // it wins
  const choice = parseChoice(given.get("sidecar") ?? "");
  if (choice === undefined) return { options, unnamed: shown.unnamed };
  const unnamed = unnamedOf(choice.named, { env: evidence.env, options: given, facts });
  const left = choice.named.filter(({ name }) => !unnamed.includes(name));
  if (unnamed.length > 0) options.set("sidecar", formatChoice({ ...choice, named: left }));
  return { options, unnamed };
}

/**
 * Returns the options by which `ebb run` learns of the sidecars that the manifest shows, and that `auto` would not find in
 * this container by annotations and variables. `sidecar` names them: beside `auto`, but alone on the node's network, where
 * no port is believed. `quit` adds those of further sidecars of a kind. One that cannot be told to quit is not named:
 * nothing shows whether it is ready, either. `given`: options that the user says.
 */
function shownOptions(
  { env, detected }: SidecarEvidence,
  facts: PodFacts,
  given: ReadonlyMap<string, string>,
): SidecarOptions {
  const { isOnNode, sidecars, annotations } = facts;
  const saying = { env, options: given, facts };
  const options = new Map<string, string>();
  if (describesAll(saying)) return { options, unnamed: [] };
  const proxies = sidecars.filter(({ name }) => isProxy(name));
  const all = sidecars.filter((one) => one.problem === undefined && isKnownNative(one, annotations));
  const unnamed = unnamedOf(named(all), saying);
  const usable = all.filter(({ name }) => !unnamed.includes(name));
  if (isOnNode && usable.some(({ name }) => isProxy(name)))
    return { options: options.set("sidecar", formatChoice({ isAuto: false, named: named(usable) })), unnamed };
  const { found, hasProxy } = detected;
  const isAtAdmin = given.has("admin") || variablesOf("admin").some((name) => (env[name] ?? "") !== "");
  const unfound = usable.filter(({ name }) => !found.some((one) => one.name === name) && !(isAtAdmin && isProxy(name)));
  if (unfound.length > 0) options.set("sidecar", formatChoice({ isAuto: true, named: named(unfound) }));
  const isLate = !isOnNode && proxies.length > 0 && !hasProxy && !unfound.some(({ name }) => isProxy(name));
  if (isLate) options.set("detect-timeout", LATE_PROXY);
  const quits = furtherQuits(unfound);
  if (quits.length > 0) options.set("quit", quits.join(","));
  return { options, unnamed };
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
function describesAll(saying: Saying): boolean {
  const values = urlsIn(saying);
  return values === undefined || isDescribed(values, saying.env);
}

/**
 * Reports whether on the node's network something tells which proxy is this container's, and where: an option, a variable,
 * the pod's annotations or containers.
 */
export function hasOwnProxy(
  { env, detected }: SidecarEvidence,
  facts: PodFacts,
  options: ReadonlyMap<string, string>,
): boolean {
  const choice = choiceIn(env, options);
  if (choice === undefined) return true;
  if (choice.isAuto && (options.has("admin") || variablesOf("admin").some((name) => name in env))) return true;
  const names = [...choice.named, ...(choice.isAuto ? detected.found : [])].filter(({ name }) => isProxy(name));
  const unnamed = unnamedOf(names, { env, options, facts }, ["wait", "drain"]);
  return names.some(({ name }) => !unnamed.includes(name));
}
