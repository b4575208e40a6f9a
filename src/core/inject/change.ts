import { type JsonObject, objectOf, withField } from "../base/json.ts";
import { chooseContainers } from "./container/choose.ts";
import { isAlwaysRestarted, proxyHook } from "./container/hooks.ts";
import { surroundingsOf } from "./container/network.ts";
import { chooseOptions } from "./container/options.ts";
import { type AppPart, applyPart, containerStatusOf, type Part, planPart } from "./container/part.ts";
import { findRivalQuitters } from "./container/several.ts";
import { annotationsVolume, ebbMount, ebbVolume, volumeNames, volumesOf } from "./container/volumes.ts";
import type { Context, InjectRequest } from "./context.ts";
import { installContainer } from "./install.ts";
import { STATUS } from "./marks.ts";
import { nativeSidecarsIn } from "./native-sidecars.ts";
import type { Pod } from "./pod.ts";
import type { Remark } from "./remark.ts";
import { NATIVE, type Status } from "./status.ts";

/** The plan for a pod that has no ebb in it. */
export interface Change {
  /** The pod with ebb in it; undefined if there are problems, or nothing to change. */
  readonly pod: JsonObject | undefined;
  /** The names of the containers whose command starts with ebb from now on. */
  readonly containers: readonly string[];
  readonly problems: readonly Remark[];
  readonly warnings: readonly Remark[];
}

/**
 * Plans a pod with ebb in it: commands, variables, hooks, mounts, volumes, ebb.dev/status. Does not change `pod`, which
 * must not have ebb in it.
 */
export function planChange(pod: Pod, told: InjectRequest): Change {
  const choice = chooseContainers(pod, told);
  const surroundings = surroundingsOf(pod, told.wishes.sidecars);
  const context = { pod, told, surroundings, names: volumeNames(pod), volumes: volumesOf(pod) };
  const apps = choice.chosen.map((one) => planPart(one, context));
  const { isRefused, remarks } = findRivalQuitters(apps, context);
  const problems = [...choice.problems, ...apps.flatMap((app) => app.problems), ...(isRefused ? remarks : [])];
  const warnings = [...choice.warnings, ...apps.flatMap((app) => app.warnings), ...(isRefused ? [] : remarks)];
  const parts = [...apps, ...planProxies(apps, context)];
  const isNothing = parts.every((part) => containerStatusOf(part) === undefined);
  return {
    pod: isNothing || problems.length > 0 ? undefined : build(parts, context),
    containers: apps.filter(({ command }) => command !== undefined).map(({ container }) => container.name),
    problems,
    warnings,
  };
}

/** Plans drain hooks for ordinary proxies, so that they are there until the app has drained. */
function planProxies(apps: readonly AppPart[], { pod, told, names, surroundings }: Context): readonly Part[] {
  const longest = apps.toSorted((a, b) => b.shutdown.drainMs - a.shutdown.drainMs)[0]?.shutdown;
  const hasEbb = apps.some(({ command }) => command !== undefined);
  if (longest === undefined || longest.drainMs === 0 || !hasEbb || !isAlwaysRestarted(pod)) return [];
  const policy = new Map([...told.known.options, ...told.policy.options]);
  const options = chooseOptions({ pod: surroundings.options, policy, annotations: told.wishes.options });
  const started = new Set(apps.map(({ at }) => at));
  return pod.spec.containers.flatMap((container, at): readonly Part[] => {
    if (started.has(at)) return [];
    const hook = proxyHook(container, longest.drain, options);
    return hook === undefined ? [] : [{ at, container, hook, mounts: [ebbMount(names.ebb)], env: [], how: {} }];
  });
}

function build(parts: readonly Part[], { pod, told, names }: Context): JsonObject {
  const mounted = new Set(parts.flatMap(({ mounts }) => mounts.map(({ name }) => name)));
  const { policy } = told;
  const byPlace = new Map(parts.map((part) => [part.at, part]));
  const containers = pod.spec.containers.map((container, at) => {
    const part = byPlace.get(at);
    return part === undefined ? container : applyPart(part);
  });
  const isCopied = policy.volume === "emptyDir" && mounted.has(names.ebb);
  const inits = isCopied ? [installContainer(pod, { volume: names.ebb, policy })] : [];
  const volumes = [
    ...(mounted.has(names.ebb) ? [ebbVolume(names.ebb, policy)] : []),
    ...(mounted.has(names.annotations) ? [annotationsVolume(names.annotations)] : []),
  ];
  let spec = withField(pod.spec, "containers", containers);
  if (inits.length > 0) spec = withField(spec, "initContainers", [...inits, ...(pod.spec.initContainers ?? [])]);
  if (volumes.length > 0) spec = withField(spec, "volumes", [...(pod.spec.volumes ?? []), ...volumes]);
  const native = nativeSidecarsIn(pod);
  const status = statusText(parts, told, { volumes: volumes.map(({ name }) => String(name)), native });
  return withAnnotations(withField(pod, "spec", spec), { [NATIVE]: native, [STATUS]: status });
}

interface Added {
  readonly volumes: readonly string[];
  /** The value of the annotation that names native sidecars; undefined if it is not added. */
  readonly native: string | undefined;
}

function statusText(parts: readonly Part[], { policy, known }: InjectRequest, { volumes, native }: Added): string {
  const statuses = parts.flatMap((part) => {
    const status = containerStatusOf(part);
    return status === undefined ? [] : [[part.container.name, status] as const];
  });
  const options = [...known.options, ...policy.options];
  const status: Status = {
    containers: Object.fromEntries(statuses),
    ...(volumes.length === 0 ? {} : { volumes: [...volumes] }),
    ...(native === undefined ? {} : { native }),
    ...(options.length === 0 ? {} : { options: Object.fromEntries(options) }),
  };
  return JSON.stringify(status);
}

function withAnnotations(pod: JsonObject, added: Readonly<Record<string, string | undefined>>): JsonObject {
  const metadata = objectOf(pod.metadata);
  const annotations = Object.entries(added).reduce(
    (all, [name, text]) => (text === undefined ? all : withField(all, name, text)),
    objectOf(metadata.annotations),
  );
  return withField(pod, "metadata", withField(metadata, "annotations", annotations));
}
