import type { Environment } from "../../../../shared/core/environment.ts";
import {
  formatChoice,
  type NamedSidecar,
  parseChoice,
  type SidecarChoice,
} from "../../../../shared/sidecars/core/choice.ts";
import { type Detection, detect, isDescribed } from "../../../../shared/sidecars/core/detect.ts";
import type { Annotations } from "../../../../shared/sidecars/core/kinds/kind.ts";
import { NATIVE } from "../../../../shared/sidecars/core/kinds/native.ts";
import { foundIn } from "../../../../shared/sidecars/core/plan.ts";
import { isProxy, kindOf, type SidecarName, sidecarNames } from "../../../../shared/sidecars/core/registry.ts";
import { variablesIn } from "../facts/env.ts";
import type { PodFacts } from "../facts/facts.ts";
import { readNativeValue } from "../facts/native-value.ts";
import type { PodSidecar } from "../facts/sidecars.ts";
import { variableOf, variablesOf } from "../pod-annotations.ts";
import { awaited } from "./awaited.ts";
import type { WithOptions } from "./options.ts";
import { unnamedOf, urlsIn } from "./unnamed.ts";

/** What a container's variables and the pod's annotations tell of the sidecars. */
interface SidecarEvidence {
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

/** A container, also with the options of the user, and those by which `ebb run` learns of the sidecars. */
export interface WithSidecars extends WithOptions {
  /** What the container's variables and the pod's annotations tell of the sidecars. */
  readonly evidence: SidecarEvidence;
  /** The sidecars that the options leave out, because nothing names where they are on the node's network. */
  readonly unnamed: readonly SidecarName[];
  /** The containers of sidecars that nothing waits for, because nothing shows where they listen. */
  readonly unwaited: readonly string[];
}

export function withSidecars(app: WithOptions, facts: PodFacts): WithSidecars {
  const env = variablesIn(app.container);
  const detected = detect({ env, annotations: facts.annotations, atAdmin: undefined, byPort: [] });
  const evidence = { env, detected };
  const { options, ...left } = sidecarOptions(evidence, facts, app.given.all);
  return { ...app, ...left, evidence, options: new Map([...app.options, ...options]) };
}

/** Options by flag, and what these leave out. */
type SidecarOptions = Pick<WithSidecars, "options" | "unnamed" | "unwaited">;

function sidecarOptions(
  evidence: SidecarEvidence,
  facts: PodFacts,
  given: ReadonlyMap<string, string>,
): SidecarOptions {
  const { env } = evidence;
  const shown = shownOptions(evidence, facts, given);
  const options = new Map([...shown.options, ...given]);
  const ready = [shown.options, given].flatMap((one) => one.get("ready") ?? []);
  if (ready.length > 0) options.set("ready", ready.join(","));
  if (variableOf("sidecar") in env) return { ...shown, options, unnamed: [] }; // it wins
  const choice = parseChoice(given.get("sidecar") ?? "");
  if (choice === undefined) return { ...shown, options };
  const unnamed = unnamedOf(choice.named, { env, options: given, facts });
  const left = choice.named.filter(({ name }) => !unnamed.includes(name));
  const more = choice.isAuto ? (parseChoice(shown.options.get("sidecar") ?? "")?.named ?? []) : [];
  const others = more.filter(({ name }) => !choice.named.some((one) => one.name === name));
  if (unnamed.length + others.length > 0)
    options.set("sidecar", formatChoice({ ...choice, named: [...left, ...others] }));
  return { ...shown, options, unnamed };
}

/**
 * Returns the options by which `ebb run` learns of the sidecars that the manifest shows, and that `auto` would not find in
 * this container by annotations and variables. `sidecar` names them: beside `auto`, but alone on the node's network, where
 * no port is believed. `ready` has those that no name stands for; `quit` adds those of further sidecars of a kind. `given`:
 * options that the user says.
 */
function shownOptions(
  { env, detected }: SidecarEvidence,
  facts: PodFacts,
  given: ReadonlyMap<string, string>,
): SidecarOptions {
  const { isOnNode, sidecars, annotations } = facts;
  const saying = { env, options: given, facts };
  const options = new Map<string, string>();
  const choice = choiceIn(env, given);
  const isNone = choice?.isAuto === false && choice.named.length === 0;
  const urls = isNone ? undefined : urlsIn(saying);
  // a bad value counts as if the user said all
  if (urls === undefined || isDescribed(urls, env)) return { options, unnamed: [], unwaited: [] };
  const { found, hasProxy } = detected;
  const all = sidecars.filter((one) => isKnownNative(one, annotations));
  const first = firstOfEach(all);
  const isFound = ({ name }: PodSidecar) => found.some((one) => one.name === name);
  const hasNoName = (one: PodSidecar) => kindOf(one.name).ready !== undefined && !first.includes(one) && !isFound(one);
  const { ready, unwaited } = awaited(all.filter(hasNoName), saying, urls);
  if (ready.length > 0) options.set("ready", ready.join(","));
  const unnamed = unnamedOf(first.flatMap(namedSidecars), saying);
  const usable = first.filter(({ name }) => !unnamed.includes(name));
  const choose = (isAuto: boolean, list: readonly PodSidecar[]) =>
    options.set("sidecar", formatChoice({ isAuto, named: list.flatMap(namedSidecars) }));
  if (isOnNode && usable.some(({ name }) => isProxy(name)))
    return { options: choose(false, usable), unnamed, unwaited };
  const isAtAdmin = given.has("admin") || variablesOf("admin").some((name) => (env[name] ?? "") !== "");
  const unfound = usable.filter((one) => !isFound(one) && !(isAtAdmin && isProxy(one.name)));
  if (unfound.length > 0) choose(true, unfound);
  const hasShownProxy = sidecars.some(({ name }) => isProxy(name));
  const isLate = !isOnNode && hasShownProxy && !hasProxy && !unfound.some(({ name }) => isProxy(name));
  if (isLate) options.set("detect-timeout", LATE_PROXY);
  const quits = unfound.flatMap((one) => furtherQuits(one, all));
  if (quits.length > 0) options.set("quit", quits.join(","));
  return { options, unnamed, unwaited };
}

/** Reports false for a native sidecar if the pod's own ebb.dev/native leaves it out: `ebb run` would tell it to quit. */
function isKnownNative({ at, name }: PodSidecar, annotations: Annotations): boolean {
  if (at !== undefined || readNativeValue(annotations.get(NATIVE) ?? "").names.length === 0) return true;
  return foundIn({ env: {}, annotations }, [name]).every(({ isNative }) => isNative);
}

/** Returns the first sidecar of each kind that can be named, in the registry's order: rather one that takes a quit. */
function firstOfEach(sidecars: readonly PodSidecar[]): readonly PodSidecar[] {
  return sidecarNames.flatMap((name) => {
    const ofKind = sidecars.filter((one) => one.name === name && namedSidecars(one).length > 0);
    return (ofKind.find(({ problem }) => problem === undefined) ?? ofKind[0]) || [];
  });
}

/**
 * Returns how a sidecar is named, so that ebb waits for it: by the port of its admin interface. One without that (`problem`)
 * is at its usual ports, or, if it is native and so gets no quit, named by the port at which it serves the app. An empty list
 * if it cannot be named.
 */
export function namedSidecars({ name, at, port, problem, listeners }: PodSidecar): readonly NamedSidecar[] {
  if (problem === undefined) return [port === undefined ? { name } : { name, port }];
  if (listeners === undefined) return [{ name }];
  const [first] = at === undefined ? listeners : [];
  return first === undefined ? [] : [{ name, port: first }];
}

/** Returns a quit for each ordinary sidecar of the kind of `first` that is at another port. */
function furtherQuits(first: PodSidecar, sidecars: readonly PodSidecar[]): readonly string[] {
  return sidecars.flatMap(({ name, at, port, problem }) => {
    if (name !== first.name || at === undefined || port === undefined || port === first.port) return [];
    return problem === undefined ? [`+POST http://localhost:${port}${kindOf(name).quitPath}`] : [];
  });
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
