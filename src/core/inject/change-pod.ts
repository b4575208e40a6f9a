import { hookOptionNames, pickOptions } from "../cli/options.ts";
import { ANNOTATIONS, APPS, VOLUME } from "./annotation-names.ts";
import { type App, isLeft, planApp, remarkOnUnknown } from "./container/app.ts";
import { type Chosen, chooseContainers } from "./container/choose.ts";
import { hasOwnProxy, noneNamed, type Surroundings, surroundingsOf } from "./container/network.ts";
import { remarkOnDelay } from "./container/post-start.ts";
import { canReplace, msSlept, proxyHook, remarkOnHook } from "./container/pre-stop.ts";
import { earlyTraffic } from "./container/readiness.ts";
import { fit, isAlwaysRestarted, quits, warnOfUncatchableSignal, wholeSeconds } from "./container/shutdown.ts";
import { quitProblems, unquittable } from "./container/sidecars.ts";
import {
  type AnnotationsFile,
  annotationsVolume,
  ebbMount,
  ebbVolume,
  findAnnotationsFile,
  installContainer,
  mountInTheWay,
} from "./install.ts";
import { appsVolume, joinApps, lastQuits } from "./last-of.ts";
import { spareSidecars, warnOfInits } from "./orchestrated.ts";
import { orchestratorOf } from "./orchestrators/registry.ts";
import { type Container, freeName, type Mount, type Pod, type Remarks, type Volume } from "./pod.ts";
import { variableOf, variablesOf } from "./pod-annotations.ts";
import type { InjectRequest } from "./policy.ts";

/** What is decided for a pod as a whole before its containers are changed one by one. */
interface Context {
  readonly pod: Pod;
  readonly request: InjectRequest;
  readonly surroundings: Surroundings;
  /** Whether ebb starts apps beside one that it does not start. */
  readonly isBlind: boolean;
  /** The names of the volumes that ebb may add, and of those that containers mount by now. */
  readonly volumes: Readonly<Record<"ebb" | "annotations" | "apps", string>> & { readonly mounted: Set<string> };
}

/**
 * Puts ebb into a pod that does not have it: changes its containers, init containers and volumes in place. Returns what
 * was decided for its apps. After a problem the pod is of no use.
 */
export function changePod(pod: Pod, request: InjectRequest, remarks: Remarks): readonly App[] {
  const chosen = chooseContainers(pod, request, remarks);
  const taken = pod.spec.volumes ?? [];
  const context = {
    pod,
    request,
    surroundings: surroundingsOf(pod, request.annotations),
    isBlind: chosen.some(isUnknown) && !chosen.every(isUnknown),
    volumes: {
      ebb: freeName(VOLUME, taken),
      annotations: freeName(ANNOTATIONS, taken),
      apps: freeName(APPS, taken),
      mounted: new Set<string>(),
    },
  };
  const all = chosen.map((one) => planApp(one, context));
  for (const app of all) remarkOn(app, context, remarks);
  const apps = all.filter((app) => !isLeft(app));
  for (const app of apps) changeApp(app, context);
  const inTheWay = joinApps(apps, pod, context.volumes.apps);
  if (inTheWay !== undefined) context.volumes.mounted.add(context.volumes.apps);
  remarks.problems.push(...(inTheWay ?? []));
  if (!isAlwaysRestarted(pod) && apps.some(quitsByItself))
    remarks.warnings.push(...quitProblems(context.surroundings), ...unquittable(pod, request.annotations));
  remarks.warnings.push(...warnOfInits(pod, context.surroundings));
  if (lastQuits(apps, pod)) spareSidecars(pod, context.surroundings);
  hookProxies(apps, context, remarks);
  addVolumes(context);
  return all;
}

function isUnknown({ start }: Chosen): boolean {
  return start.kind === "unknown";
}

/** Reports whether ebb quits the sidecars there, and the user does not say which or how. */
function quitsByItself({ container, isGiven }: App): boolean {
  return quits(container) && !["quit", "signal-process", "sidecar"].some(isGiven);
}

/** Changes a container that ebb starts or drains: command, variables, mounts, preStop hook. */
function changeApp(app: App, context: Context): void {
  const { container, start, shutdown, isMounted } = app;
  const file = annotationsFileFor(app, context);
  if (start.kind === "wrapped") container.command = start.command;
  addVariables(app, file?.path);
  if (isMounted) addMount(container, ebbMount(context.volumes.ebb), context);
  if (file?.mount !== undefined) addMount(container, file.mount, context);
  if (shutdown.kind === "hook") addHook(container, shutdown.hook);
}

function remarkOn(app: App, context: Context, { problems, warnings }: Remarks): void {
  const { at, container, start, options, said, shutdown, looks, isMounted } = app;
  const { pod, surroundings } = context;
  for (const flag of options.keys()) {
    if (!said.has(flag) || !has(container, variableOf(flag))) continue;
    const message = `it sets ${variableOf(flag)} itself, which wins over the annotation ebb.dev/${flag}`;
    warnings.push({ field: `spec.containers[${at}].env`, message });
  }
  warnings.push(...shutdown.warnings, ...remarkOnDelay(app, app.delay, app.isGiven));
  if (looks && surroundings.isOnNode && !hasOwnProxy(container, surroundings, options)) warnings.push(noneNamed);
  if (!isLeft(app)) warnings.push(...remarkOnUnknown(app, pod));
  if (start.kind !== "unknown") warnings.push(...warnOfUncatchableSignal(container, at, start.image?.stopSignal));
  const isProbed = orchestratorOf(pod)?.probesApps === true;
  const waits = looks && start.kind === "wrapped" && !isProbed;
  const early = waits ? earlyTraffic(container, pod.spec.restartPolicy) : undefined;
  if (early !== undefined && !warnings.some(({ field }) => field.endsWith(".readinessProbe")))
    warnings.push({ field: `spec.containers[${at}].readinessProbe`, message: early });
  const mount = isMounted ? mountInTheWay(container) : undefined;
  if (mount === undefined) return;
  const field = `spec.containers[${at}].volumeMounts[${mount}].mountPath`;
  problems.push({ field, message: "ebb is mounted at /ebb.dev: mount this elsewhere" });
}

/** Finds the file with the pod's annotations, if ebb reads them there, and no option or variable says in which file. */
function annotationsFileFor(
  { container, options, looks }: App,
  { pod, volumes }: Context,
): AnnotationsFile | undefined {
  const isSaid = options.has("pod-annotations") || has(container, variableOf("pod-annotations"));
  return looks && !isSaid ? findAnnotationsFile(container, pod.spec.volumes ?? [], volumes.annotations) : undefined;
}

/** The options that `ebb drain` reads, as the hook of a container that ebb does not start. */
const hookFlags: ReadonlySet<string> = new Set(
  Object.values(pickOptions(...hookOptionNames, "drain")).map(({ flag }) => flag),
);

/**
 * Adds the variables of options that the container's env does not set. A value that no annotation of the pod says also
 * gives way to other tools' variables. `annotationsFile`: where the pod's annotations are, if ebb must be told.
 */
function addVariables({ container, start, options, said, shutdown }: App, annotationsFile: string | undefined): void {
  const isSet = (flag: string) =>
    said.has(flag) ? has(container, variableOf(flag)) : variablesOf(flag).some((name) => has(container, name));
  const isRead = (flag: string) => start.kind !== "unknown" || hookFlags.has(flag);
  const isTold = (flag: string) => isRead(flag) && !(flag === "drain" && shutdown.kind === "hook") && !isSet(flag);
  const added = [...options].filter(([flag]) => isTold(flag));
  if (annotationsFile !== undefined) added.push(["pod-annotations", annotationsFile]);
  if (added.length === 0) return;
  container.env = [...(container.env ?? []), ...added.map(([flag, value]) => ({ name: variableOf(flag), value }))];
}

function has({ env }: Container, name: string): boolean {
  return (env ?? []).some((one) => one.name === name);
}

function addMount(container: Container, mount: Mount, { volumes }: Context): void {
  container.volumeMounts = [...(container.volumeMounts ?? []), mount];
  volumes.mounted.add(mount.name);
}

function addHook(container: Container, command: string[]): void {
  container.lifecycle = { ...container.lifecycle, preStop: { exec: { command } } };
}

/** Adds drain hooks to ordinary proxies, so that they are there until the app has drained. */
function hookProxies(apps: readonly App[], context: Context, { warnings }: Remarks): void {
  const { pod, request, surroundings, volumes } = context;
  if (!apps.some(({ isMounted }) => isMounted)) return;
  const longest = apps.toSorted((a, b) => b.shutdown.drainMs - a.shutdown.drainMs)[0]?.shutdown;
  if (longest === undefined || longest.drainMs === 0 || !isAlwaysRestarted(pod)) return;
  const slept = Math.max(...apps.map(({ shutdown }) => shutdown.sleptMs));
  const options = new Map([...surroundings.options, ...request.policy.options, ...request.annotations.options]);
  const started = new Set(apps.map(({ container }) => container));
  for (const [at, container] of pod.spec.containers.entries()) {
    const own = container.lifecycle?.preStop;
    const isLonger = msSlept(own) > longest.drainMs;
    const drainMs = isLonger ? fit(msSlept(own), pod, options) : longest.drainMs;
    const drain = isLonger ? wholeSeconds(drainMs) : longest.drain;
    const sleptMs = Math.min(Math.max(slept, msSlept(own)), drainMs);
    const hook = started.has(container) ? undefined : proxyHook(container, { drain, sleptMs }, options);
    if (hook === undefined) continue;
    warnings.push(...remarkOnHook(own, { at, drain, drainMs, command: hook, isDrained: false }));
    if (!canReplace(own, drainMs)) continue;
    addMount(container, ebbMount(volumes.ebb), context);
    addHook(container, hook);
  }
}

/**
 * Adds the volumes that containers mount, and first the init container that copies ebb: those that are kept, as they
 * are.
 */
function addVolumes({ pod, request: { policy, kept }, volumes: { ebb, annotations, apps, mounted } }: Context): void {
  const { spec } = pod;
  if (mounted.has(ebb) && policy.volume === "emptyDir") {
    const own = kept.installs.find(({ volumeMounts }) => volumeMounts?.some(({ name }) => name === ebb));
    spec.initContainers = [own ?? installContainer(pod, ebb, policy), ...(spec.initContainers ?? [])];
  }
  const added = [
    ...(mounted.has(ebb) ? [ebbVolume(ebb, policy)] : []),
    ...(mounted.has(annotations) ? [annotationsVolume(annotations)] : []),
    ...(mounted.has(apps) ? [appsVolume(apps)] : []),
  ];
  const asKept = (made: Volume) => kept.volumes.find((one) => isSameVolume(one, made)) ?? made;
  if (added.length > 0) spec.volumes = [...(spec.volumes ?? []), ...added.map(asKept)];
}

/** Reports whether two volumes have the same name, and are of the same type. */
function isSameVolume(one: Volume, made: Volume): boolean {
  return one.name === made.name && Object.keys(made).every((field) => Object.hasOwn(one, field));
}
