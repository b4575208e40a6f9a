import { isSidecar, withoutTag } from "../../sidecars/containers.ts";
import type { InjectRequest } from "../context.ts";
import { joinNames, missingContainers, unknownSidecars } from "../names.ts";
import { annotationField, type Container, type Pod } from "../pod.ts";
import type { Remark } from "../remark.ts";
import type { ContainerStatus } from "../status.ts";
import type { Wishes } from "../wishes.ts";
import { type Starter, starterOf, wrap } from "./command.ts";

/** A container that ebb is to start. */
export interface Chosen {
  readonly at: number;
  readonly container: Container;
  /** The command from now on; undefined if it starts an ebb of its own, and stays as it is. */
  readonly command: readonly string[] | undefined;
  /** How the command was changed, for ebb.dev/status. */
  readonly how: Pick<ContainerStatus, "command" | "tool">;
}

/** The containers that ebb is to start, and what keeps it from starting them. */
export interface Choice {
  readonly chosen: readonly Chosen[];
  readonly problems: readonly Remark[];
  readonly warnings: readonly Remark[];
}

/** Chooses the containers that ebb starts: those that ebb.dev/containers names, else all but the sidecars. */
export function chooseContainers(pod: Pod, told: InjectRequest): Choice {
  const { wishes } = told;
  const { containers } = pod.spec;
  const named = wishes.containers === undefined ? undefined : new Set(wishes.containers);
  const isWanted = ({ name, image }: Container) =>
    named === undefined
      ? !isSidecar(name, image ?? undefined) && !told.wishes.sidecars.includes(name)
      : named.has(name);
  const wanted = containers.map((container, at) => ({ container, at })).filter(({ container }) => isWanted(container));
  const absent = named === undefined ? [] : missingContainers(named, pod);
  const decided = wanted.map((one) => decide(one, told));
  const names = wanted.map(({ container }) => container.name);
  return {
    chosen: decided.flatMap((one) => (one.kind === "start" ? [one.chosen] : [])),
    problems: [
      ...absent,
      ...(wanted.length === 0 && absent.length === 0 ? [nothingToStart(containers)] : []),
      ...strayNames(names, wishes),
      ...unclear(wanted, wishes),
      ...decided.flatMap((one) => (one.kind === "unknown" ? [one.problem] : [])),
    ],
    warnings: [
      ...unknownSidecars(pod, wishes),
      ...idleEntrypoints(wanted, wishes),
      ...decided.flatMap((one) => (one.kind === "leave" ? [one.warning] : [])),
    ],
  };
}

interface Wanted {
  readonly at: number;
  readonly container: Container;
}

function nothingToStart(containers: readonly Container[]): Remark {
  const names = joinNames(containers.map(({ name }) => name));
  return {
    field: "spec.containers",
    message: `there are only sidecars here (${names}); if one of them is the app, name it with ebb.dev/containers`,
  };
}

/** Returns a problem for each annotation of a container that ebb does not start. */
function strayNames(started: readonly string[], { own, entrypoints }: Wishes): readonly Remark[] {
  const chosen = new Set(started);
  const all = joinNames(started) || "none";
  const options = [...own].flatMap(([name, said]) => [...said.keys()].map((flag) => [name, flag] as const));
  const said = [...options, ...[...entrypoints.keys()].map((name) => [name, "entrypoint"] as const)];
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
function unclear(wanted: readonly Wanted[], { entrypoint, entrypoints }: Wishes): readonly Remark[] {
  const names = wanted.filter(hasNoCommand).map(({ container }) => container.name);
  const open = names.filter((name) => !entrypoints.has(name));
  if (entrypoint === undefined || open.length < 2) return [];
  const message = `several containers have no command: write ebb.dev/entrypoint.NAME for each of ${joinNames(open)}`;
  return [{ field: annotationField("ebb.dev/entrypoint"), message }];
}

/** Warns of entrypoints for containers that have a command. */
function idleEntrypoints(wanted: readonly Wanted[], { entrypoint, entrypoints }: Wishes): readonly Remark[] {
  const idle = wanted.filter((one) => !hasNoCommand(one) && entrypoints.has(one.container.name));
  const own = idle.map(({ container }) => container.name).map((name) => `ebb.dev/entrypoint.${name}`);
  const all = entrypoint !== undefined && !wanted.some(hasNoCommand) ? ["ebb.dev/entrypoint"] : [];
  const message = "ignored: the container's own command wins";
  return [...all, ...own].map((name) => ({ field: annotationField(name), message }));
}

function hasNoCommand({ container: { command } }: Wanted): boolean {
  return (command ?? []).length === 0;
}

type Decision =
  | { readonly kind: "start"; readonly chosen: Chosen }
  | { readonly kind: "leave"; readonly warning: Remark }
  | { readonly kind: "unknown"; readonly problem: Remark };

function decide(wanted: Wanted, told: InjectRequest): Decision {
  const { container } = wanted;
  const own = container.command ?? [];
  const isGiven = own.length === 0;
  const words = isGiven ? entrypointOf(container, told) : own;
  if (words === undefined) return { kind: "unknown", problem: unknownCommand(wanted) };
  const starter = starterOf(words);
  if (starter.kind !== "ebb") {
    return { kind: "start", chosen: { ...wanted, command: wrap(words), how: howOf(isGiven, starter) } };
  }
  if (!starter.runs) return { kind: "leave", warning: leftAlone(wanted) };
  return { kind: "start", chosen: { ...wanted, command: undefined, how: {} } };
}

function howOf(isGiven: boolean, starter: Starter): Chosen["how"] {
  if (isGiven) return { command: "entrypoint" };
  return starter.kind === "tool" ? { command: "tool", tool: starter.path } : { command: "wrapped" };
}

function entrypointOf(
  { name, image }: Container,
  { wishes, policy, known }: InjectRequest,
): readonly string[] | undefined {
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
  const what = hasArgs ? "its ENTRYPOINT" : "its whole command line (ENTRYPOINT and CMD)";
  const ways = `as annotation ebb.dev/entrypoint.${name}, as command here, or with --entrypoint ${name}=WORDS`;
  const other = "or leave it out: ebb.dev/containers names those that ebb starts";
  return {
    field: `spec.containers[${at}].command`,
    message: `missing, and ${image ?? "its image"}'s is not known: give ${what} ${ways}; ${other}`,
  };
}

function leftAlone({ at, container: { command } }: Wanted): Remark {
  const words = (command ?? []).slice(0, 2).join(" ");
  return { field: `spec.containers[${at}].command`, message: `it starts ${words}, which is left as it is` };
}
