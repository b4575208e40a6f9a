import { type JsonObject, withField } from "../../base/json.ts";
import type { Context } from "../context.ts";
import type { Container } from "../pod.ts";
import type { Remark } from "../remark.ts";
import type { ContainerStatus } from "../status.ts";
import type { Chosen } from "./choose.ts";
import { DEFAULT_GRACE, type HookPlan, hookOf, planHook } from "./hooks.ts";
import { hasOwnProxy, noneNamed } from "./network.ts";
import { chooseOptions, type OptionValues, variableOf, variablesOf } from "./options.ts";
import { stopSignalOf, warnOfUncatchableSignal } from "./stop-signal.ts";
import { ebbMount, mountInTheWay, placeOfAnnotations } from "./volumes.ts";

/** A variable of a container, as a manifest has it. */
interface Variable {
  readonly name: string;
  readonly value: string;
}

/** What is changed in one container. */
export interface Part {
  /** Its index in spec.containers. */
  readonly at: number;
  /** The container as it is now. */
  readonly container: Container;
  /** Its new command; undefined if that stays. */
  readonly command?: readonly string[] | undefined;
  /** The variables to add. */
  readonly env: readonly Variable[];
  /** The mounts to add. */
  readonly mounts: readonly JsonObject[];
  /** The command of the preStop hook to add. */
  readonly hook?: readonly string[] | undefined;
  /** How its command was changed, for ebb.dev/status. */
  readonly how: Pick<ContainerStatus, "command" | "tool">;
}

/** What is changed in one container that ebb starts, and what was decided on the way. */
export interface AppPart extends Part {
  readonly options: OptionValues;
  readonly shutdown: HookPlan;
  readonly problems: readonly Remark[];
  readonly warnings: readonly Remark[];
}

/** Plans all that is changed in one container that ebb starts: command, variables, preStop hook, mounts. */
export function planPart(chosen: Chosen, context: Context): AppPart {
  const { surroundings, names, volumes } = context;
  const { at, container, command, how } = chosen;
  const options = optionsOf(container, context);
  const shutdown = planHook(chosen, context, options);
  const isHook = shutdown.kind === "hook";
  const given = [...options].filter(([flag]) => !(isHook && flag === "drain"));
  const place = readsAnnotations(container, options)
    ? placeOfAnnotations(container, volumes, names.annotations)
    : undefined;
  const file = place?.file === undefined ? [] : [{ name: variableOf("pod-annotations"), value: place.file }];
  const looks = surroundings.isOnNode && options.get("sidecar")?.text !== "none";
  const unnamed = looks && !hasOwnProxy(container, surroundings, options) ? [noneNamed] : [];
  const inTheWay = command === undefined ? undefined : mountInTheWay(container);
  return {
    at,
    container,
    command,
    how,
    options,
    shutdown,
    env: [...given.filter(([flag, value]) => !isSet(flag, value, container)).map(toVariable), ...file],
    mounts: [
      ...(command === undefined ? [] : [ebbMount(names.ebb)]),
      ...(place?.mount === undefined ? [] : [place.mount]),
    ],
    hook: isHook ? hookOf(shutdown.drain) : undefined,
    problems: inTheWay === undefined ? [] : [occupied(at, inTheWay)],
    warnings: [
      ...ownVariables(chosen, options),
      ...(shutdown.warning === undefined ? [] : [shutdown.warning]),
      ...unnamed,
      ...warnOfUncatchableSignal(container, at),
    ],
  };
}

function optionsOf(container: Container, { pod: { spec }, told, surroundings }: Context): OptionValues {
  const { wishes, policy, known } = told;
  const policyOfKubelet = container.restartPolicy ?? spec.restartPolicy ?? "Always";
  const pod = new Map([["restart-policy", policyOfKubelet], ...surroundings.options]);
  const grace = spec.terminationGracePeriodSeconds ?? DEFAULT_GRACE;
  if (grace > 0) pod.set("pod-grace", `${grace}s`);
  const stopSignal = stopSignalOf(container);
  if (stopSignal !== undefined) pod.set("stop-signal", stopSignal);
  const own = wishes.own.get(container.name) ?? new Map();
  return chooseOptions({
    pod,
    policy: new Map([...known.options, ...policy.options]),
    annotations: new Map([...wishes.options, ...own]),
  });
}

/** Reports whether ebb reads the pod's annotations there, and no option or variable says in which file. */
function readsAnnotations({ env }: Container, options: OptionValues): boolean {
  const isSaid = options.has("pod-annotations") || has(env, variableOf("pod-annotations"));
  return !isSaid && options.get("sidecar")?.text !== "none";
}

/**
 * Reports whether the container's env already sets this option. A value that no annotation of the pod says also gives
 * way to other tools' variables.
 */
function isSet(flag: string, { isSaid }: { readonly isSaid: boolean }, { env }: Container): boolean {
  return isSaid ? has(env, variableOf(flag)) : variablesOf(flag).some((name) => has(env, name));
}

function has(env: Container["env"], name: string): boolean {
  return (env ?? []).some((one) => one.name === name);
}

function toVariable([flag, { text }]: readonly [string, { readonly text: string }]): Variable {
  return { name: variableOf(flag), value: text };
}

function occupied(at: number, mount: number): Remark {
  const field = `spec.containers[${at}].volumeMounts[${mount}].mountPath`;
  return { field, message: "ebb is mounted at /ebb.dev: mount this elsewhere" };
}

function ownVariables({ at, container: { env } }: Chosen, options: OptionValues): readonly Remark[] {
  return [...options]
    .filter(([flag, { isSaid }]) => isSaid && has(env, variableOf(flag)))
    .map(([flag]) => ({
      field: `spec.containers[${at}].env`,
      message: `it sets ${variableOf(flag)} itself, which wins over the annotation ebb.dev/${flag}`,
    }));
}

/** Returns a copy of the container with what is planned for it. Existing fields keep their order. */
export function applyPart({ container, command, env, mounts, hook }: Part): JsonObject {
  let result: JsonObject = container;
  if (command !== undefined) result = withField(result, "command", command);
  if (env.length > 0) result = withField(result, "env", [...(container.env ?? []), ...env]);
  if (mounts.length > 0) result = withField(result, "volumeMounts", [...(container.volumeMounts ?? []), ...mounts]);
  if (hook === undefined) return result;
  const lifecycle = withField(container.lifecycle ?? {}, "preStop", { exec: { command: hook } });
  return withField(result, "lifecycle", lifecycle);
}

/**
 * Returns what ebb.dev/status records of a container, so that the changes can be undone; undefined if nothing is
 * changed.
 */
export function containerStatusOf({ how, env, mounts, hook }: Part): ContainerStatus | undefined {
  if (how.command === undefined && env.length + mounts.length === 0 && hook === undefined) return undefined;
  return {
    ...how,
    ...(env.length === 0 ? {} : { env: env.map(({ name }) => name) }),
    ...(hook === undefined ? {} : { hook: true }),
  };
}
