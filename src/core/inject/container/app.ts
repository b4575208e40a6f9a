import type { Pod, Remark } from "../pod.ts";
import { variablesOf } from "../pod-annotations.ts";
import type { InjectRequest } from "../policy.ts";
import type { Chosen } from "./choose.ts";
import type { Surroundings } from "./network.ts";
import { type Delay, delayOf, delayOptions } from "./post-start.ts";
import { mayEnd, restartOptions } from "./restart.ts";
import { graceOf, type HookPlan, isAlwaysRestarted, planHook, stopSignalOf } from "./shutdown.ts";
import { sidecarOptions } from "./sidecars.ts";

/** What is decided for a container that ebb starts, or would start if its command were known. */
export interface App extends Chosen {
  /** Its options by flag. */
  readonly options: ReadonlyMap<string, string>;
  /** Those of them that the pod's annotations say. */
  readonly said: ReadonlyMap<string, string>;
  /** Whether annotations, the policy or variables of the manifest say an option. */
  readonly isGiven: (flag: string) => boolean;
  readonly delay: Delay | undefined;
  readonly shutdown: HookPlan;
  /** Whether ebb looks for sidecars there. */
  readonly looks: boolean;
  /** Whether ebb's volume is mounted there. */
  readonly isMounted: boolean;
  /** Whether it ends unseen by ebb, which starts others in the pod. */
  readonly isUnseen: boolean;
}

interface Whole {
  readonly pod: Pod;
  readonly request: InjectRequest;
  readonly surroundings: Surroundings;
  /** Whether ebb starts apps beside one that it does not start: then it quits no sidecar, unless the user says so. */
  readonly isBlind: boolean;
}

/** The pod's options that a helper does not take: it ends after the apps, when it has done its work. */
const ofApps: readonly string[] = ["grace", "drain"];

/** Collects the options of a container: what the pod's fields mean, then the policy's, then the annotations'. */
export function planApp(chosen: Chosen, { pod, request, surroundings, isBlind }: Whole): App {
  const { container, start, role } = chosen;
  const { annotations, policy } = request;
  const fields = new Map(restartOptions(container, pod));
  for (const [flag, text] of surroundings.options) fields.set(flag, text);
  if (graceOf(pod) > 0) fields.set("pod-grace", `${graceOf(pod)}s`);
  const stopSignal = stopSignalOf(container, start.image?.stopSignal);
  if (stopSignal !== undefined) fields.set("stop-signal", stopSignal);
  const common = (options: ReadonlyMap<string, string>) =>
    [...options].filter(([flag]) => role !== "helper" || !ofApps.includes(flag));
  const said = new Map([...common(annotations.options), ...(annotations.own.get(container.name) ?? [])]);
  const given = new Map([...common(policy.options), ...said]);
  const isUnseen = isBlind && mayEnd(container, pod) && !given.has("quit-on");
  if (isUnseen) fields.set("quit-on", "never");
  const named = new Map([...fields, ...sidecarOptions(container, surroundings, given), ...given]);
  const delay = start.kind === "unknown" ? undefined : delayOf(chosen, surroundings, named);
  const options = new Map([...delayOptions(delay), ...named]);
  const shutdown = planHook(chosen, { pod, surroundings }, options);
  const variables = new Set((container.env ?? []).map(({ name }) => name));
  const isGiven = (flag: string) => given.has(flag) || variablesOf(flag).some((name) => variables.has(name));
  const looks = options.get("sidecar") !== "none";
  const isMounted = start.kind === "wrapped" || (start.kind === "unknown" && shutdown.kind !== "none");
  return { ...chosen, options, said, isGiven, delay, shutdown, looks, isMounted, isUnseen };
}

/** Reports whether ebb adds nothing to an app: its command is not known, and it needs no drain. */
export function isLeft({ start, isMounted }: App): boolean {
  return start.kind === "unknown" && !isMounted;
}

/**
 * Returns a remark on an app that ebb does not start, because its command is not known, or must stay; an empty list on any
 * other.
 */
export function remarkOnUnknown(app: App, pod: Pod): readonly Remark[] {
  const { at, container, start, shutdown, isUnseen } = app;
  if (start.kind !== "unknown") return [];
  const { name, args } = container;
  const unseen = isUnseen ? `, so ${KEPT}` : "";
  const left = isAlwaysRestarted(pod) ? `, and adds no drain hook either (${shutdown.why})` : unseen;
  const consequence = isLeft(app) ? left : shutdown.kind === "hook" ? ", and only drains it" : "";
  const field = `spec.containers[${at}].command`;
  if (start.isKept) return [{ field, message: `ebb leaves "${name}" as it is${consequence}: ${start.reason}` }];
  const what = (args ?? []).length > 0 ? "ENTRYPOINT" : "ENTRYPOINT and CMD";
  const sidecar = isUnseen ? "; if it is a sidecar, name it in ebb.dev/sidecars" : "";
  const message = `ebb does not know what "${name}" starts${consequence}: ${start.reason}${sidecar}; or give its ${what}: ebb.dev/entrypoint.${name}, or command here`;
  return [{ field, message }];
}

/** What follows for a pod in which ebb does not see the end of a container. */
export const KEPT = "no ebb in this pod quits the sidecars: unless they are native, only ebb reaper ends it";
