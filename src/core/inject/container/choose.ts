import { readable } from "../../base/readable.ts";
import { joinNames } from "../../base/wording.ts";
import { nearest } from "../../cli/suggestion.ts";
import { isSidecar } from "../../sidecars/containers.ts";
import { annotationField } from "../annotation-names.ts";
import { pathAsked } from "../by-hand.ts";
import type { Role } from "../orchestrators/orchestrator.ts";
import { orchestratorOf } from "../orchestrators/registry.ts";
import { architecturesOf } from "../other-system.ts";
import { type Container, MOST_REMARKS, type Pod, type Remark, type Remarks } from "../pod.ts";
import type { PodAnnotations } from "../pod-annotations.ts";
import type { InjectRequest, TrackedImage } from "../policy.ts";
import { innerStarterOf, isInit, MUST_BE_FIRST, starterOf, wrap } from "./command.ts";
import { roleOf } from "./role.ts";
import { hasNoCommand, type Words, wordsOf } from "./words.ts";

/** A container that is an app or its helper. */
export interface Chosen {
  /** Its index in spec.containers. */
  readonly at: number;
  readonly container: Container;
  readonly role: Exclude<Role, "sidecar">;
  readonly start: Start;
}

/** How a container starts from now on. */
export type Start =
  /** By this command, which is ebb's. `image`: what a registry told of its image, if that has the command. */
  | { readonly kind: "wrapped"; readonly command: string[]; readonly image: TrackedImage | undefined }
  /** As before: by an ebb of its own. */
  | { readonly kind: "own-ebb"; readonly image: TrackedImage | undefined }
  /** As before: nobody knows its command, or that must stay (`isKept`). */
  | { readonly kind: "unknown"; readonly reason: string; readonly isKept: boolean; readonly image: undefined };

/** Chooses the containers that ebb starts: all but the sidecars. */
export function chooseContainers(pod: Pod, request: InjectRequest, remarks: Remarks): readonly Chosen[] {
  const { annotations } = request;
  const { containers } = pod.spec;
  const all = containers.map((container, at) => ({ container, at, role: roleOf(pod, container, annotations) }));
  const wanted = all.flatMap(({ role, ...one }) => (role === "sidecar" ? [] : { ...one, role }));
  const absent = missingApps(annotations, pod);
  const nothing = wanted.length === 0 && absent.length === 0 ? [nothingToStart(containers, annotations)] : [];
  remarks.problems.push(...absent, ...nothing, ...strayNames(wanted, annotations), ...unclear(wanted, annotations));
  remarks.warnings.push(...unknownSidecars(pod, annotations), ...idleEntrypoints(wanted, annotations));
  remarks.warnings.push(
    ...all.flatMap(({ role, container, at }) => (role === "sidecar" ? needless(container, at) : [])),
  );
  const architectures = architecturesOf(pod);
  return wanted.flatMap((one) => {
    if (one.role === "untouchable") return { ...one, start: untouched(pod) };
    const start = startOf(one, wordsOf(one.container, request, architectures), remarks);
    return start === undefined ? [] : { ...one, start };
  });
}

function untouched(pod: Pod): Start {
  return kept(`${orchestratorOf(pod)?.name} needs it as it is`);
}

function kept(reason: string): Start {
  return { kind: "unknown", reason, isKept: true, image: undefined };
}

/** Returns a warning for a container that does only what ebb does. */
function needless(container: Container, at: number): readonly Remark[] {
  const path = pathAsked(container);
  const message = `"${container.name}" only asks a sidecar to quit (${path}): remove it, because ebb quits the sidecar`;
  return path === undefined ? [] : [{ field: `spec.containers[${at}]`, message }];
}

type Wanted = Omit<Chosen, "start">;

/** Decides how a container starts. Returns undefined, with a remark, if ebb has nothing to do there. */
function startOf(wanted: Wanted, said: Words, { warnings }: Remarks): Start | undefined {
  if (said.kind === "unknown") return { ...said, isKept: false, image: undefined };
  const { at, container } = wanted;
  const { words } = said;
  const [program = ""] = [...words, ...(container.args ?? [])];
  if (isInit(program)) return kept(`${program} ${MUST_BE_FIRST}, which ebb run would be: ebb help apps`);
  const image = said.kind === "image" ? said.image : undefined;
  const field = `spec.containers[${at}].command`;
  const starter = starterOf([...words, ...(container.args ?? [])]);
  if (starter.kind !== "ebb") {
    warnings.push(...doubled(wanted, words));
    return { kind: "wrapped", command: wrap(words), image };
  }
  if (starter.runs) return { kind: "own-ebb", image };
  const message = `it starts ${[...words, ...(container.args ?? [])].slice(0, 2).join(" ")}, which is left as it is`;
  warnings.push({ field, message });
  return undefined;
}

/** Warns of a tool or an init inside the command, which would do a second time what ebb does around it. */
function doubled({ at, container }: Wanted, words: readonly string[]): readonly Remark[] {
  const inner = innerStarterOf(readable([...words, ...(container.args ?? [])]));
  if (inner === undefined) return [];
  const message = `${inner.outer} starts ${inner.name} here, and ebb does what ${inner.name} does: remove ${inner.name} from the command`;
  return [{ field: `spec.containers[${at}].command`, message }];
}

function nothingToStart(containers: readonly Container[], { sidecars }: PodAnnotations): Remark {
  const said = namesOf(containers).filter((name) => sidecars.has(name));
  const how =
    said.length > 0
      ? `take the app out of ebb.dev/sidecars (${joinNames(said)})`
      : "if one of them is the app, name it in ebb.dev/apps";
  return {
    field: "spec.containers",
    message: `there are only sidecars here (${joinNames(namesOf(containers))}): ${how}`,
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

function isOpen({ container }: Wanted): boolean {
  return hasNoCommand(container);
}

/**
 * Refuses ebb.dev/entrypoint if several containers have no command: their images differ, so one command line cannot
 * serve all.
 */
function unclear(wanted: readonly Wanted[], { entrypoint, entrypoints }: PodAnnotations): readonly Remark[] {
  const names = wanted.filter(isOpen).map(({ container }) => container.name);
  const open = names.filter((name) => !entrypoints.has(name));
  if (entrypoint === undefined || open.length < 2) return [];
  const message = `several containers have no command: write ebb.dev/entrypoint.NAME for each of ${joinNames(open)}`;
  return [{ field: annotationField("ebb.dev/entrypoint"), message }];
}

/** Warns of entrypoints for containers that have a command. */
function idleEntrypoints(wanted: readonly Wanted[], { entrypoint, entrypoints }: PodAnnotations): readonly Remark[] {
  const idle = wanted.filter((one) => !isOpen(one) && entrypoints.has(one.container.name));
  const own = idle.map(({ container }) => `ebb.dev/entrypoint.${container.name}`);
  const all = entrypoint !== undefined && !wanted.some(isOpen) ? ["ebb.dev/entrypoint"] : [];
  const message = "ignored: the container's own command wins";
  return [...all, ...own].map((name) => ({ field: annotationField(name), message }));
}

/**
 * Returns a problem for each name in ebb.dev/apps that no ordinary container of the pod has, or that ebb.dev/sidecars has,
 * too.
 */
function missingApps({ apps, sidecars }: PodAnnotations, { spec }: Pod): readonly Remark[] {
  const names = new Set(namesOf(spec.containers));
  const inits = new Set(namesOf(spec.initContainers ?? []));
  const there = joinNames([...names]);
  const whatIs = (name: string) =>
    inits.has(name) ? `"${name}" is an init container, which ebb never starts` : `there is no container "${name}"`;
  const messageOn = (name: string) => {
    if (sidecars.has(name)) return `"${name}" is in ebb.dev/sidecars, too`;
    return names.has(name) ? undefined : `${whatIs(name)}: this pod's containers are ${there}`;
  };
  return [...apps].flatMap((name) => {
    const message = messageOn(name);
    return message === undefined ? [] : [{ field: annotationField("ebb.dev/apps"), message }];
  });
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
  return [...sidecars]
    .filter((name) => !there.has(name) && !isSidecar(name, undefined))
    .slice(0, MOST_REMARKS + 1) // each is compared with all names
    .map((name) => ({
      field: annotationField("ebb.dev/sidecars"),
      message: `there is no container "${name}": this pod's containers are ${joinNames(names)}${hintFor(name)}`,
    }));
}

function namesOf(containers: readonly Container[]): readonly string[] {
  return containers.map(({ name }) => name);
}
