import { stopSignals } from "../../../../shared/cli/core/syntax.ts";
import { shortened } from "../../../../shared/core/text.ts";
import { joinNames } from "../../../../shared/core/wording.ts";
import { readable } from "../../../core/readable.ts";
import { annotationField } from "../annotation-names.ts";
import { type App, runsEbb } from "../apps/app.ts";
import type { Edit } from "../edits/edit.ts";
import { innerStarterOf } from "../facts/command.ts";
import type { ContainerFacts } from "../facts/container-facts.ts";
import type { PodFacts } from "../facts/facts.ts";
import { hasNoCommand } from "../facts/words.ts";
import type { Concern, Note } from "./concern.ts";

/** ebb starts each app whose command is known. */
export const command: Concern = (facts, apps) => {
  const { containers } = facts;
  const nonSidecars = containers.filter(({ role }) => role !== "sidecar");
  const sidecars = containers.filter(({ role }) => role === "sidecar");
  return {
    edits: apps.flatMap(editsOf),
    problems: unclear(nonSidecars, facts),
    warnings: [
      ...idleEntrypoints(nonSidecars, facts),
      ...sidecars.filter((one) => !facts.moves.moved.has(one)).flatMap(needless),
      ...nonSidecars.flatMap(remarksOnStart),
      ...apps.filter(runsEbb).flatMap((app) => remarkOnUnwrapped(app, facts)),
      ...apps.flatMap(warnOfUncatchableSignal),
    ],
  };
};

/** The longest reason that is recorded for a container. */
const LONGEST_REASON = 200;

function editsOf({ name, start, neverQuits }: App): readonly Edit[] {
  if (start.kind === "wrapped") return [{ kind: "command", container: name, words: start.words, image: start.image }];
  if (start.kind === "own-ebb") return [];
  const reason = `${shortened(start.reason, LONGEST_REASON)}${neverQuits ? `; ${KEPT}` : ""}`;
  return [{ kind: "unwrapped", container: name, reason }];
}

/** Returns a warning for a container that does only what ebb does. */
function needless({ name, pathAsked }: ContainerFacts): readonly Note[] {
  const message = `remove "${name}": it only asks a sidecar to exit (${pathAsked}), which ebb already does`;
  return pathAsked === undefined ? [] : [{ container: name, field: "", message }];
}

function remarksOnStart({ name, container, start }: ContainerFacts): readonly Note[] {
  if (start?.kind === "ebb-command") {
    const message = `it starts ${start.words.slice(0, 2).join(" ")}, which is left as it is`;
    return [{ container: name, field: "command", message }];
  }
  // a tool or an init inside the command would do a second time what ebb does around it
  const words = start?.kind === "wrapped" ? [...start.words, ...(container.args ?? [])] : [];
  const inner = innerStarterOf(readable(words));
  if (inner === undefined) return [];
  const message = `${inner.outer} starts ${inner.name} here, and ebb does what ${inner.name} does: remove ${inner.name} from the command`;
  return [{ container: name, field: "command", message }];
}

/**
 * Refuses ebb.dev/entrypoint if several containers have no command: their images differ, so one command line cannot
 * serve all.
 */
function unclear(
  nonSidecars: readonly ContainerFacts[],
  { requested: { entrypoint, entrypoints } }: PodFacts,
): readonly Note[] {
  const open = nonSidecars.filter(({ name, container }) => hasNoCommand(container) && !entrypoints.has(name));
  if (entrypoint === undefined || open.length < 2) return [];
  const names = joinNames(open.map(({ name }) => name));
  const message = `several containers have no command: write ebb.dev/entrypoint.NAME for each of ${names}`;
  return [{ field: annotationField("ebb.dev/entrypoint"), message }];
}

/** Warns of entrypoints for containers that have a command. */
function idleEntrypoints(
  nonSidecars: readonly ContainerFacts[],
  { requested: { entrypoint, entrypoints } }: PodFacts,
): readonly Note[] {
  const isOpen = ({ container }: ContainerFacts) => hasNoCommand(container);
  const idle = nonSidecars.filter((one) => !isOpen(one) && entrypoints.has(one.name));
  const own = idle.map(({ name }) => `ebb.dev/entrypoint.${name}`);
  const all = entrypoint !== undefined && !nonSidecars.some(isOpen) ? ["ebb.dev/entrypoint"] : [];
  const message = "ignored: the container's own command wins";
  return [...all, ...own].map((name) => ({ field: annotationField(name), message }));
}

/**
 * Returns a remark on an app that ebb does not start, because its command is not known, or must stay; an empty list on any
 * other.
 */
export function remarkOnUnwrapped(app: App, { restartsAlways }: PodFacts): readonly Note[] {
  const { name, container, start, drain, neverQuits } = app;
  if (start.kind !== "unwrapped") return [];
  const noHook = !runsEbb(app) && restartsAlways ? `; it gets no drain hook either (${drain.why})` : "";
  const consequence = neverQuits ? `; so ${KEPT}` : noHook;
  const note = (message: string) => [{ container: name, field: "command", message: `${message}${consequence}` }];
  const isDrained = drain.kind === "hook";
  if (start.mustStay)
    return note(`ebb leaves "${name}" as it is${isDrained ? ", and only drains it" : ""}: ${start.reason}`);
  const what = (container.args ?? []).length > 0 ? "ENTRYPOINT" : "ENTRYPOINT and CMD";
  const sidecar = neverQuits ? "; or name it in ebb.dev/sidecars, if it is one" : "";
  // the reason comes first, because it may say how to find out
  return note(
    `the command of "${name}" is unknown${isDrained ? ", so ebb only drains it" : ""}: ${start.reason}; or set command here, or ebb.dev/entrypoint.${name}, to its ${what}${sidecar}`,
  );
}

/** What follows for a pod in which ebb does not see the end of a container. */
const KEPT = "no ebb in this pod shuts down the sidecars: unless they are native, only ebb reaper ends the pod";

/** Returns a warning if a container's stop signal is one that no process can catch, such as SIGKILL. */
function warnOfUncatchableSignal({ name, container: { lifecycle }, start }: App): readonly Note[] {
  if (start.kind === "unwrapped") return [];
  const signal = lifecycle?.stopSignal ?? start.image?.stopSignal;
  if (signal == null || stopSignals.parse(signal) !== undefined) return [];
  const field = lifecycle?.stopSignal == null ? "image" : "lifecycle.stopSignal";
  const message = `ebb cannot catch ${signal}, so it neither drains nor shuts down the sidecars when this container is stopped: expected ${stopSignals.expected}`;
  return [{ container: name, field, message }];
}
