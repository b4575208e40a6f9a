import type { Policy, Remark } from "./patch.ts";
import type { Wishes } from "./patch-annotations.ts";
import { type Starter, starterOf, wrap } from "./patch-command.ts";
import { annotationField, type Container, type Pod } from "./patch-pod.ts";
import type { ContainerStatus, Known } from "./patch-status.ts";
import { isSidecar, withoutTag } from "./sidecar-containers.ts";

/** A container that ebb is to start, and how its command is then. */
export interface Chosen {
  readonly at: number;
  readonly container: Container;
  /** Its command; undefined: it starts an ebb of its own, and stays as it is. */
  readonly command: readonly string[] | undefined;
  readonly how: Pick<ContainerStatus, "command" | "tool">;
}

export interface Choice {
  readonly chosen: readonly Chosen[];
  readonly problems: readonly Remark[];
  readonly warnings: readonly Remark[];
}

/** Which containers ebb is to start: those that the pod names, else all but the sidecars. */
export function chooseContainers(pod: Pod, told: Told): Choice {
  const { containers } = pod.spec;
  const problems: Remark[] = [];
  const warnings: Remark[] = [];
  const named = told.wishes.containers;
  if (named !== undefined) problems.push(...missing(named, pod));
  const wanted = containers
    .map((container, at) => ({ container, at }))
    .filter(({ container: { name, image } }) => {
      return named === undefined ? !isSidecar(name, image ?? undefined) : named.includes(name);
    });
  if (wanted.length === 0 && problems.length === 0) problems.push(nothingToStart(containers));
  problems.push(
    ...strayNames(
      wanted.map(({ container }) => container.name),
      told.wishes,
    ),
    ...unclear(wanted, told.wishes),
  );
  warnings.push(...idleEntrypoints(wanted, told.wishes));
  const chosen = wanted.flatMap((one): readonly Chosen[] => {
    const decided = decide(one, told);
    if ("message" in decided) problems.push(decided);
    else if (decided.starter.kind === "ebb" && !decided.starter.runs) warnings.push(leftAlone(one));
    else return [decided.chosen];
    return [];
  });
  return { chosen, problems, warnings };
}

export interface Told {
  readonly wishes: Wishes;
  readonly policy: Policy;
  readonly known: Known;
}

interface Wanted {
  readonly at: number;
  readonly container: Container;
}

const list = (names: readonly string[]): string => names.join(", ");

function missing(named: readonly string[], { spec }: Pod): readonly Remark[] {
  const names = spec.containers.map(({ name }) => name);
  const field = annotationField("ebb.dev/containers");
  return named
    .filter((name) => !names.includes(name))
    .map((name) => {
      const isInit = (spec.initContainers ?? []).some((init) => init.name === name);
      const what = isInit
        ? `"${name}" is an init container, which ebb never starts`
        : `there is no container "${name}"`;
      return { field, message: `${what}: this pod's containers are ${list(names)}` };
    });
}

function nothingToStart(containers: readonly Container[]): Remark {
  const names = list(containers.map(({ name }) => name));
  return {
    field: "spec.containers",
    message: `there are only sidecars here (${names}); if one of them is the app, name it with ebb.dev/containers`,
  };
}

/** Annotations of containers that ebb does not start. */
function strayNames(chosen: readonly string[], { own, entrypoints }: Wishes): readonly Remark[] {
  const options = [...own].flatMap(([name, said]) => [...said.keys()].map((flag) => [name, flag] as const));
  const all = [...options, ...[...entrypoints.keys()].map((name) => [name, "entrypoint"] as const)];
  return all
    .filter(([name]) => !chosen.includes(name))
    .map(([name, key]) => ({
      field: annotationField(`ebb.dev/${key}.${name}`),
      message: `ebb does not start a container "${name}", but ${list(chosen) || "none"}`,
    }));
}

/** One command line cannot be that of several images. */
function unclear(wanted: readonly Wanted[], { entrypoint, entrypoints }: Wishes): readonly Remark[] {
  const names = wanted.filter(hasNoCommand).map(({ container }) => container.name);
  const open = names.filter((name) => !entrypoints.has(name));
  if (entrypoint === undefined || open.length < 2) return [];
  const message = `several containers have no command: write ebb.dev/entrypoint.NAME for each of ${list(open)}`;
  return [{ field: annotationField("ebb.dev/entrypoint"), message }];
}

/** Command lines of containers that have a command. */
function idleEntrypoints(wanted: readonly Wanted[], { entrypoint, entrypoints }: Wishes): readonly Remark[] {
  const isIdle = (name: string) => wanted.some((one) => one.container.name === name && !hasNoCommand(one));
  const own = [...entrypoints.keys()].filter(isIdle).map((name) => `ebb.dev/entrypoint.${name}`);
  const all = entrypoint !== undefined && !wanted.some(hasNoCommand) ? ["ebb.dev/entrypoint"] : [];
  const message = "this says nothing: the container's own command comes first";
  return [...all, ...own].map((name) => ({ field: annotationField(name), message }));
}

function hasNoCommand({ container: { command } }: Wanted): boolean {
  return (command ?? []).length === 0;
}

function decide(wanted: Wanted, told: Told): { chosen: Chosen; starter: Starter } | Remark {
  const { container } = wanted;
  const own = container.command ?? [];
  const words = own.length > 0 ? own : entrypointOf(container, told);
  if (words === undefined) return unknownCommand(wanted);
  const starter = starterOf(words);
  const isGiven = own.length === 0;
  if (starter.kind === "ebb") return { starter, chosen: { ...wanted, command: undefined, how: {} } };
  return { starter, chosen: { ...wanted, command: wrap(words), how: howOf(isGiven, starter) } };
}

function howOf(isGiven: boolean, starter: Starter): Chosen["how"] {
  if (isGiven) return { command: "entrypoint" };
  return starter.kind === "tool" ? { command: "tool", tool: starter.path } : { command: "wrapped" };
}

function entrypointOf({ name, image }: Container, { wishes, policy, known }: Told): readonly string[] | undefined {
  const { entrypoints } = policy;
  const full = image ?? "";
  return (
    wishes.entrypoints.get(name) ??
    wishes.entrypoint ??
    entrypoints.get(name) ??
    entrypoints.get(full) ??
    entrypoints.get(withoutTag(full)) ??
    known.entrypoints.get(name)
  );
}

function unknownCommand({ at, container: { name, image, args } }: Wanted): Remark {
  const hasArgs = (args ?? []).length > 0;
  const what = hasArgs
    ? "the ENTRYPOINT"
    : "the whole command line (ENTRYPOINT and CMD, because Kubernetes drops CMD where there is a command)";
  const ways = `as command here, as annotation ebb.dev/entrypoint.${name}, or with --entrypoint ${name}=WORDS`;
  const other = `or leave it out: ebb.dev/containers names those that ebb starts`;
  return {
    field: `spec.containers[${at}].command`,
    message: `what the image ${image ?? "of this container"} starts is not known here: give ${what} ${ways}; ${other}`,
  };
}

function leftAlone({ at, container: { command } }: Wanted): Remark {
  const words = (command ?? []).slice(0, 2).join(" ");
  return { field: `spec.containers[${at}].command`, message: `it starts ${words}, which is left as it is` };
}
