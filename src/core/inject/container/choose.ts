import { joinNames } from "../../base/wording.ts";
import { nearest } from "../../cli/suggestion.ts";
import { isSidecar, withoutTag } from "../../sidecars/containers.ts";
import { annotationField } from "../annotation-names.ts";
import { quitterPath } from "../by-hand.ts";
import type { Container, Pod, Remark, Remarks } from "../pod.ts";
import type { PodAnnotations } from "../pod-annotations.ts";
import type { InjectRequest } from "../policy.ts";
import { innerStarterOf, starterOf, wrap } from "./command.ts";

/** A container that ebb is to start. */
export interface Chosen {
  /** Its index in spec.containers. */
  readonly at: number;
  readonly container: Container;
  /** The command from now on; undefined if it starts an ebb of its own, and stays as it is. */
  readonly command: string[] | undefined;
}

/** Chooses the containers that ebb starts: those that ebb.dev/containers names, else all but the sidecars. */
export function chooseContainers(pod: Pod, request: InjectRequest, remarks: Remarks): readonly Chosen[] {
  const { annotations } = request;
  const { containers } = pod.spec;
  const named = annotations.containers === undefined ? undefined : new Set(annotations.containers);
  const isWanted = (container: Container) =>
    named === undefined
      ? isApp(container) && !annotations.sidecars.includes(container.name)
      : named.has(container.name);
  const wanted = containers.map((container, at) => ({ container, at })).filter(({ container }) => isWanted(container));
  const absent = named === undefined ? [] : missingContainers(named, pod);
  const nothing = wanted.length === 0 && absent.length === 0 ? [nothingToStart(containers)] : [];
  remarks.problems.push(...absent, ...nothing, ...strayNames(wanted, annotations), ...unclear(wanted, annotations));
  remarks.warnings.push(...unknownSidecars(pod, annotations), ...idleEntrypoints(wanted, annotations));
  remarks.warnings.push(...containers.flatMap((one, at) => (isWanted(one) ? [] : needless(one, at))));
  return wanted.flatMap((one) => start(one, request, remarks) ?? []);
}

/** Reports whether a container is an app: no sidecar that ebb knows, and none that only quits one. */
export function isApp(container: Container): boolean {
  return !isSidecar(container.name, container.image ?? undefined) && pathAsked(container) === undefined;
}

/** Returns the path at which a container that does nothing else asks a sidecar to quit; undefined for any other. */
function pathAsked({ command, args }: Container): string | undefined {
  return quitterPath(command ?? [], args ?? []);
}

/** Returns a warning for a container that does only what ebb does. */
function needless(container: Container, at: number): readonly Remark[] {
  const path = pathAsked(container);
  const message = `"${container.name}" only waits and then asks a sidecar to quit (${path}): remove it, because ebb quits the sidecar, and this container fails when it asks later`;
  return path === undefined ? [] : [{ field: `spec.containers[${at}]`, message }];
}

type Wanted = Omit<Chosen, "command">;

/** Decides how ebb starts a container. Returns undefined, with a remark, if it cannot or need not. */
function start(wanted: Wanted, request: InjectRequest, remarks: Remarks): Chosen | undefined {
  const { at, container } = wanted;
  const words = hasNoCommand(wanted) ? entrypointOf(container, request) : (container.command ?? []);
  if (words === undefined) {
    remarks.problems.push(unknownCommand(wanted));
    return undefined;
  }
  const starter = starterOf(words);
  if (starter.kind !== "ebb") {
    remarks.warnings.push(...doubled(wanted, words));
    return { at, container, command: wrap(words) };
  }
  if (starter.runs) return { at, container, command: undefined };
  const message = `it starts ${(container.command ?? []).slice(0, 2).join(" ")}, which is left as it is`;
  remarks.warnings.push({ field: `spec.containers[${at}].command`, message });
  return undefined;
}

/** Warns of a tool or an init inside the command, which would do a second time what ebb does around it. */
function doubled({ at, container }: Wanted, words: readonly string[]): readonly Remark[] {
  const inner = innerStarterOf([...words, ...(container.args ?? [])]);
  if (inner === undefined) return [];
  const message = `${inner.outer} starts ${inner.name} here, and ebb does what ${inner.name} does: remove ${inner.name} from the command`;
  return [{ field: `spec.containers[${at}].command`, message }];
}

function hasNoCommand({ container: { command } }: Wanted): boolean {
  return (command ?? []).length === 0;
}

function entrypointOf({ name, image }: Container, request: InjectRequest): readonly string[] | undefined {
  const { annotations, policy, formerEntrypoints } = request;
  const full = image ?? "";
  return (
    annotations.entrypoints.get(name) ??
    annotations.entrypoint ??
    policy.entrypoints.get(name) ??
    policy.entrypoints.get(full) ??
    policy.entrypoints.get(withoutTag(full)) ??
    formerEntrypoints.get(name)
  );
}

function unknownCommand({ at, container: { name, image, args } }: Wanted): Remark {
  const hasArgs = (args ?? []).length > 0;
  const what = hasArgs ? "its ENTRYPOINT" : "its whole command line (ENTRYPOINT and CMD)";
  const ways = `as annotation ebb.dev/entrypoint.${name}, as command here, or with --entrypoint ${name}=WORDS`;
  const other = "or leave it out: ebb.dev/containers names those that ebb starts";
  return {
    field: `spec.containers[${at}].command`,
    message: `missing, and ${image ?? "its image"}'s is not known: give ${what} ${ways}; ${other}`,
  };
}

function nothingToStart(containers: readonly Container[]): Remark {
  const names = joinNames(namesOf(containers));
  return {
    field: "spec.containers",
    message: `there are only sidecars here (${names}); if one of them is the app, name it with ebb.dev/containers`,
  };
}

/** Returns a problem for each annotation of a container that ebb does not start. */
function strayNames(wanted: readonly Wanted[], { own, entrypoints }: PodAnnotations): readonly Remark[] {
  const started = wanted.map(({ container }) => container.name);
  const all = joinNames(started) || "none";
  const options = [...own].flatMap(([name, said]) => [...said.keys()].map((flag) => [name, flag] as const));
  const said = [...options, ...[...entrypoints.keys()].map((name) => [name, "entrypoint"] as const)];
  const chosen = new Set(started);
  return said
    .filter(([name]) => !chosen.has(name))
    .map(([name, key]) => ({
      field: annotationField(`ebb.dev/${key}.${name}`),
      message: `ebb does not start a container "${name}", but ${all}`,
    }));
}

/**
 * Refuses ebb.dev/entrypoint if several containers have no command: their images differ, so one command line cannot
 * serve all.
 */
function unclear(wanted: readonly Wanted[], { entrypoint, entrypoints }: PodAnnotations): readonly Remark[] {
  const names = wanted.filter(hasNoCommand).map(({ container }) => container.name);
  const open = names.filter((name) => !entrypoints.has(name));
  if (entrypoint === undefined || open.length < 2) return [];
  const message = `several containers have no command: write ebb.dev/entrypoint.NAME for each of ${joinNames(open)}`;
  return [{ field: annotationField("ebb.dev/entrypoint"), message }];
}

/** Warns of entrypoints for containers that have a command. */
function idleEntrypoints(wanted: readonly Wanted[], { entrypoint, entrypoints }: PodAnnotations): readonly Remark[] {
  const idle = wanted.filter((one) => !hasNoCommand(one) && entrypoints.has(one.container.name));
  const own = idle.map(({ container }) => `ebb.dev/entrypoint.${container.name}`);
  const all = entrypoint !== undefined && !wanted.some(hasNoCommand) ? ["ebb.dev/entrypoint"] : [];
  const message = "ignored: the container's own command wins";
  return [...all, ...own].map((name) => ({ field: annotationField(name), message }));
}

/**
 * Returns a problem for each name in ebb.dev/containers (`named`) that no ordinary container of the pod has. An init
 * container's name is a problem, too.
 */
function missingContainers(named: ReadonlySet<string>, { spec }: Pod): readonly Remark[] {
  const names = new Set(namesOf(spec.containers));
  const inits = new Set(namesOf(spec.initContainers ?? []));
  const there = joinNames([...names]);
  const whatIs = (name: string) =>
    inits.has(name) ? `"${name}" is an init container, which ebb never starts` : `there is no container "${name}"`;
  return [...named]
    .filter((name) => !names.has(name))
    .map((name) => ({
      field: annotationField("ebb.dev/containers"),
      message: `${whatIs(name)}: this pod's containers are ${there}`,
    }));
}

/**
 * Returns a warning for each name in ebb.dev/sidecars that no container has, because a sidecar whose name is mistyped
 * there would count as an app. Names of sidecars that ebb knows are not reported: an injector may add them later.
 */
function unknownSidecars({ spec }: Pod, { sidecars }: PodAnnotations): readonly Remark[] {
  const names = namesOf([...spec.containers, ...(spec.initContainers ?? [])]);
  const there = new Set(names);
  const hintFor = (name: string) => {
    const near = nearest(name, names);
    return near === undefined ? "" : `; did you mean ${near}?`;
  };
  return sidecars
    .filter((name) => !there.has(name) && !isSidecar(name, undefined))
    .map((name) => ({
      field: annotationField("ebb.dev/sidecars"),
      message: `there is no container "${name}": this pod's containers are ${joinNames(names)}${hintFor(name)}`,
    }));
}

function namesOf(containers: readonly Container[]): readonly string[] {
  return containers.map(({ name }) => name);
}
