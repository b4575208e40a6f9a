import type { Pod, Remark } from "../pod.ts";
import { variablesOf } from "../pod-annotations.ts";
import type { InjectRequest } from "../policy.ts";
import type { Chosen } from "./choose.ts";
import type { Surroundings } from "./network.ts";
import { type Delay, delayOf, delayOptions } from "./post-start.ts";
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
}

interface Whole {
  readonly pod: Pod;
  readonly request: InjectRequest;
  readonly surroundings: Surroundings;
}

/** Collects the options of a container: what the pod's fields mean, then the policy's, then the annotations'. */
export function planApp(chosen: Chosen, { pod, request, surroundings }: Whole): App {
  const { container, start } = chosen;
  const { annotations, policy } = request;
  const fields = new Map([["restart-policy", container.restartPolicy ?? pod.spec.restartPolicy ?? "Always"]]);
  for (const [flag, text] of surroundings.options) fields.set(flag, text);
  if (graceOf(pod) > 0) fields.set("pod-grace", `${graceOf(pod)}s`);
  const stopSignal = stopSignalOf(container, start.image?.stopSignal);
  if (stopSignal !== undefined) fields.set("stop-signal", stopSignal);
  const said = new Map([...annotations.options, ...(annotations.own.get(container.name) ?? [])]);
  const given = new Map([...policy.options, ...said]);
  const named = new Map([...fields, ...sidecarOptions(container, surroundings, given), ...given]);
  const delay = start.kind === "unknown" ? undefined : delayOf(chosen, surroundings, named);
  const options = new Map([...delayOptions(delay), ...named]);
  const shutdown = planHook(chosen, { pod, surroundings }, options);
  const variables = new Set((container.env ?? []).map(({ name }) => name));
  const isGiven = (flag: string) => given.has(flag) || variablesOf(flag).some((name) => variables.has(name));
  const looks = options.get("sidecar") !== "none";
  const isMounted = start.kind === "wrapped" || (start.kind === "unknown" && shutdown.kind !== "none");
  return { ...chosen, options, said, isGiven, delay, shutdown, looks, isMounted };
}

/** Reports whether ebb adds nothing to an app: its command is not known, and it needs no drain. */
export function isLeft({ start, isMounted }: App): boolean {
  return start.kind === "unknown" && !isMounted;
}

/** Returns a remark on an app that ebb does not start, because its command is not known; an empty list on any other. */
export function remarkOnUnknown(app: App, pod: Pod): readonly Remark[] {
  const { at, container, start, shutdown } = app;
  if (start.kind !== "unknown") return [];
  const { name, args } = container;
  const does = shutdown.kind === "hook" ? "only drains" : "does not start";
  const left = isAlwaysRestarted(pod) ? `, and there is no drain hook either (${shutdown.why})` : "";
  const consequence = isLeft(app) ? left : `, so ebb ${does} "${name}"`;
  const what = (args ?? []).length > 0 ? "ENTRYPOINT" : "ENTRYPOINT and CMD";
  const message = `not in the manifest${consequence}: ${start.reason}; ebb.dev/entrypoint.${name}, or command here, can give its ${what} instead`;
  return [{ field: `spec.containers[${at}].command`, message }];
}
