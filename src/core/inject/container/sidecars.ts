import type { Environment } from "../../base/environment.ts";
import { LONGEST_READ } from "../../base/readable.ts";
import type { Options, Values } from "../../cli/option.ts";
import { pickOptions } from "../../cli/options.ts";
import { resolve } from "../../cli/values.ts";
import { Failure } from "../../run/exit.ts";
import { formatChoice, type NamedSidecar, parseChoice, type SidecarChoice } from "../../sidecars/choice.ts";
import { detect, isDescribed } from "../../sidecars/detect.ts";
import type { Annotations } from "../../sidecars/kinds/kind.ts";
import { foundIn } from "../../sidecars/plan.ts";
import { isProxy, kindOf, sidecarNames } from "../../sidecars/registry.ts";
import { quitsThatAreOff, type ShownSidecar, shownIn } from "../../sidecars/shown.ts";
import { NATIVE } from "../annotation-names.ts";
import { readNativeValue } from "../native-value.ts";
import type { Container, Pod, Remark } from "../pod.ts";
import { type PodAnnotations, variableOf, variablesOf } from "../pod-annotations.ts";

/** A sidecar that a pod's manifest shows. */
export interface PodSidecar extends ShownSidecar {
  /** Its index in spec.containers; undefined if it is native, under spec.initContainers. */
  readonly at: number | undefined;
}

/** What tells which sidecars are in a pod, and where. */
export interface PodSidecars {
  readonly isOnNode: boolean;
  readonly sidecars: readonly PodSidecar[];
  readonly annotations: Annotations;
}

/**
 * Returns the sidecars that ebb knows among a pod's containers and native sidecars, but for those that the pod says are
 * its apps.
 */
export function sidecarsOf({ spec }: Pod, apps: ReadonlySet<string> = new Set()): readonly PodSidecar[] {
  const natives = (spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === "Always");
  const others = spec.containers.map((container, at) => ({ container, at }));
  return [
    ...natives.map((container) => ({ container, at: undefined })),
    ...others.filter(({ container }) => !apps.has(container.name)),
  ].flatMap(({ container, at }) => {
    const shown = shownIn(container);
    return shown === undefined ? [] : [{ ...shown, at }];
  });
}

/** Returns a container's variables. One whose value is elsewhere (valueFrom), or too long to be looked into, is empty. */
export function variablesIn({ env }: Container): Readonly<Record<string, string>> {
  const textOf = (value: string | null | undefined) => (value == null || value.length > LONGEST_READ ? "" : value);
  return Object.fromEntries((env ?? []).map(({ name, value }) => [name, textOf(value)]));
}

/** Returns the values that variables give to options; undefined if one is bad. */
export function valuesIn<O extends Options>(env: Environment, options: O): Values<O> | undefined {
  try {
    return resolve(options, { flags: new Map(), env }).values;
  } catch (error) {
    if (error instanceof Failure) return undefined;
    throw error;
  }
}

/**
 * Returns which sidecars `ebb run` deals with in a container, by its variable or the options. Returns undefined if the
 * variable's value is bad, or elsewhere.
 */
export function choiceIn(container: Container, options: ReadonlyMap<string, string>): SidecarChoice | undefined {
  return parseChoice(variablesIn(container)[variableOf("sidecar")] ?? options.get("sidecar") ?? "auto");
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
  container: Container,
  { isOnNode, sidecars, annotations }: PodSidecars,
  given: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> {
  const env = variablesIn(container);
  const options = new Map<string, string>();
  const proxies = sidecars.filter(({ name }) => isProxy(name));
  const usable = sidecars.filter((one) => one.problem === undefined && isKnownNative(one, annotations));
  if (isOnNode && proxies.length > 0)
    return options.set("sidecar", formatChoice({ isAuto: false, named: named(usable) }));
  if (describesAll(env, given)) return options;
  const { found, hasProxy } = detect({ env, annotations, atAdmin: undefined, byPort: [] });
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
function describesAll(env: Readonly<Record<string, string>>, given: ReadonlyMap<string, string>): boolean {
  const told = Object.fromEntries([...given].map(([flag, text]) => [variableOf(flag), text]));
  const values = valuesIn({ ...told, ...env }, pickOptions("admin", "ready", "quit", "signalProcess"));
  return values === undefined || isDescribed(values, env);
}

/** Returns a warning for each ordinary sidecar that ebb knows and that will not be told to quit, or ignores that. */
export function quitProblems({ sidecars, annotations }: PodSidecars): readonly Remark[] {
  const natives = readNativeValue(annotations.get(NATIVE) ?? "").names;
  const ofContainers = sidecars.flatMap(({ at, name, container, problem }) => {
    if (at === undefined) return [];
    const field = `spec.containers[${at}]`;
    if (problem !== undefined)
      return [{ field: `${field}.args`, message: `"${container}" will outlive the app: ${problem}` }];
    const message = `"${container}" will outlive the app: it is no native sidecar, as ebb.dev/native says; write ebb.dev/native: "true" to make it one, or take "${name}" out`;
    return natives.includes(name) ? [{ field, message }] : [];
  });
  const byAnnotations = quitsThatAreOff(annotations).map((message) => ({ field: "metadata.annotations", message }));
  return [...ofContainers, ...byAnnotations];
}

/** Returns a warning for each container that the pod calls a sidecar and keeps ordinary, if ebb cannot tell it to quit. */
export function unquittable({ spec }: Pod, { sidecars, native }: PodAnnotations): readonly Remark[] {
  if (native !== "none") return []; // then it became native, or it was said why not
  return spec.containers.flatMap((container, at) => {
    const message = `"${container.name}" will outlive the app: ebb cannot tell it to quit; without ebb.dev/native: "false" it becomes a native sidecar`;
    const isKnown = shownIn(container) !== undefined;
    return sidecars.has(container.name) && !isKnown ? [{ field: `spec.containers[${at}]`, message }] : [];
  });
}
