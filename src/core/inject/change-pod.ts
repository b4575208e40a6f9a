import { annotationsVolume, findAnnotationsFile } from "./container/annotations-file.ts";
import { type Chosen, chooseContainers } from "./container/choose.ts";
import { hasOwnProxy, noneNamed, type Surroundings, surroundingsOf } from "./container/network.ts";
import {
  graceOf,
  type HookPlan,
  hookOf,
  isAlwaysRestarted,
  planHook,
  proxyHook,
  rivalQuitters,
  stopSignalOf,
  warnOfUncatchableSignal,
} from "./container/shutdown.ts";
import { ebbMount, ebbVolume, installContainer, mountInTheWay, type VolumeNames, volumeNames } from "./install.ts";
import type { Container, Mount, Pod, Remark, Remarks } from "./pod.ts";
import { mergeOptions, type OptionValue, type OptionValues, variableOf, variablesOf } from "./pod-options.ts";
import type { InjectRequest } from "./policy.ts";

/** What is decided for a pod as a whole before its containers are changed one by one. */
interface Context {
  readonly pod: Pod;
  readonly request: InjectRequest;
  readonly surroundings: Surroundings;
  /** The names of the volumes that ebb adds. */
  readonly names: VolumeNames;
}

/** A container that ebb starts, changed. */
interface App extends Chosen {
  readonly shutdown: HookPlan;
  readonly mountsAnnotations: boolean;
}

/**
 * Puts ebb into a pod that does not have it: changes its containers, init containers and volumes in place. After a
 * problem the pod is of no use.
 */
export function changePod(pod: Pod, request: InjectRequest, remarks: Remarks): void {
  const chosen = chooseContainers(pod, request, remarks);
  const surroundings = surroundingsOf(pod, request.annotations.sidecars);
  const context = { pod, request, surroundings, names: volumeNames(pod) };
  const apps = chosen.map((one) => changeApp(one, context, remarks));
  const started = apps.filter(({ command }) => command !== undefined);
  const isNamed = request.annotations.containers !== undefined;
  const rivals = isAlwaysRestarted(pod)
    ? undefined
    : rivalQuitters(
        started.map(({ container }) => container),
        isNamed,
      );
  if (rivals !== undefined) (isNamed ? remarks.warnings : remarks.problems).push(rivals);
  if (started.length > 0) hookProxies(apps, context);
  const isMounted = { ebb: started.length > 0, annotations: apps.some(({ mountsAnnotations }) => mountsAnnotations) };
  addVolumes(isMounted, context);
}

/** Changes a container that ebb starts: command, variables, mounts, preStop hook. */
function changeApp(chosen: Chosen, context: Context, { problems, warnings }: Remarks): App {
  const { at, container, command } = chosen;
  const { pod, surroundings, names } = context;
  const options = optionsOf(container, context);
  const shutdown = planHook(chosen, context, options);
  const isHook = shutdown.kind === "hook";
  const looks = options.get("sidecar")?.text !== "none";
  warnings.push(...ownVariables(chosen, options));
  if (shutdown.warning !== undefined) warnings.push(shutdown.warning);
  if (looks && surroundings.isOnNode && !hasOwnProxy(container, surroundings, options)) warnings.push(noneNamed);
  warnings.push(...warnOfUncatchableSignal(container, at));
  const inTheWay = command === undefined ? undefined : mountInTheWay(container);
  if (inTheWay !== undefined) problems.push(occupied(at, inTheWay));
  const isFileSaid = options.has("pod-annotations") || has(container, variableOf("pod-annotations"));
  const file =
    looks && !isFileSaid ? findAnnotationsFile(container, pod.spec.volumes ?? [], names.annotations) : undefined;
  if (command !== undefined) container.command = command;
  addVariables(container, [
    ...[...options].filter(([flag, value]) => !(isHook && flag === "drain") && !isSet(flag, value, container)),
    ...(file?.path === undefined ? [] : [["pod-annotations", { text: file.path }] as const]),
  ]);
  addMounts(container, [...(command === undefined ? [] : [ebbMount(names.ebb)]), ...(file?.mount ? [file.mount] : [])]);
  if (isHook) addHook(container, hookOf(shutdown.drain));
  return { ...chosen, shutdown, mountsAnnotations: file?.mount !== undefined };
}

/** Returns the options of a container: what the pod's fields mean, then the policy's, then the annotations'. */
function optionsOf(container: Container, { pod, request, surroundings }: Context): OptionValues {
  const { annotations, policy } = request;
  const grace = graceOf(pod);
  const stopSignal = stopSignalOf(container);
  return mergeOptions(
    [
      ["restart-policy", container.restartPolicy ?? pod.spec.restartPolicy ?? "Always"],
      ...surroundings.options,
      ...(grace > 0 ? [["pod-grace", `${grace}s`] as const] : []),
      ...(stopSignal === undefined ? [] : [["stop-signal", stopSignal] as const]),
      ...policy.options,
    ],
    [...annotations.options, ...(annotations.own.get(container.name) ?? [])],
  );
}

/**
 * Reports whether the container's env already sets this option. A value that no annotation of the pod says also gives
 * way to other tools' variables.
 */
function isSet(flag: string, { isSaid }: OptionValue, container: Container): boolean {
  return isSaid ? has(container, variableOf(flag)) : variablesOf(flag).some((name) => has(container, name));
}

function has({ env }: Container, name: string): boolean {
  return (env ?? []).some((one) => one.name === name);
}

function ownVariables({ at, container }: Chosen, options: OptionValues): readonly Remark[] {
  return [...options]
    .filter(([flag, { isSaid }]) => isSaid && has(container, variableOf(flag)))
    .map(([flag]) => ({
      field: `spec.containers[${at}].env`,
      message: `it sets ${variableOf(flag)} itself, which wins over the annotation ebb.dev/${flag}`,
    }));
}

function occupied(at: number, mount: number): Remark {
  const field = `spec.containers[${at}].volumeMounts[${mount}].mountPath`;
  return { field, message: "ebb is mounted at /ebb.dev: mount this elsewhere" };
}

function addVariables(container: Container, options: readonly (readonly [string, { readonly text: string }])[]): void {
  const added = options.map(([flag, { text }]) => ({ name: variableOf(flag), value: text }));
  if (added.length > 0) container.env = [...(container.env ?? []), ...added];
}

function addMounts(container: Container, mounts: readonly Mount[]): void {
  if (mounts.length > 0) container.volumeMounts = [...(container.volumeMounts ?? []), ...mounts];
}

function addHook(container: Container, command: string[]): void {
  container.lifecycle = { ...container.lifecycle, preStop: { exec: { command } } };
}

/** Adds drain hooks to ordinary proxies, so that they are there until the app has drained. */
function hookProxies(apps: readonly App[], { pod, request, surroundings, names }: Context): void {
  const longest = apps.toSorted((a, b) => b.shutdown.drainMs - a.shutdown.drainMs)[0]?.shutdown;
  if (longest === undefined || longest.drainMs === 0 || !isAlwaysRestarted(pod)) return;
  const { annotations, policy } = request;
  const options = mergeOptions([...surroundings.options, ...policy.options], [...annotations.options]);
  const started = new Set(apps.map(({ container }) => container));
  for (const container of pod.spec.containers) {
    if (started.has(container)) continue;
    const hook = proxyHook(container, longest.drain, options);
    if (hook === undefined) continue;
    addMounts(container, [ebbMount(names.ebb)]);
    addHook(container, hook);
  }
}

/** Adds the volumes that containers mount, and the init container that copies ebb. */
function addVolumes(
  isMounted: { readonly [K in keyof VolumeNames]: boolean },
  { pod, request: { policy }, names }: Context,
): void {
  const { spec } = pod;
  if (isMounted.ebb && policy.volume === "emptyDir")
    spec.initContainers = [installContainer(pod, names.ebb, policy), ...(spec.initContainers ?? [])];
  const added = [
    ...(isMounted.ebb ? [ebbVolume(names.ebb, policy)] : []),
    ...(isMounted.annotations ? [annotationsVolume(names.annotations)] : []),
  ];
  if (added.length > 0) spec.volumes = [...(spec.volumes ?? []), ...added];
}
