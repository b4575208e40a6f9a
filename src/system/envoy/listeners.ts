import type { DumpedListener } from "../../core/envoy/directions.ts";
import { groupNames } from "../../core/envoy/name-groups.ts";
import { boundListenersPath } from "../../core/envoy/stats-query.ts";
import type { AdminAnswer } from "../../core/envoy/status.ts";

/** Asks an admin interface for a path. */
export type Get = (path: string) => Promise<AdminAnswer>;

/** What the configuration says of listeners, by their names. */
export type KnownListeners = Map<string, DumpedListener>;

/**
 * Reads Envoy's config_dump for listeners that are not in `known`, and adds them to it: the static ones first, then those from a control
 * plane, some at a time. Resolves to undefined if all were read, else to the reason why not.
 */
export async function learnListeners(get: Get, known: KnownListeners): Promise<string | undefined> {
  const json = await import("../../core/envoy/json.ts"); // zod: few starts need it
  const read = async (path: string): Promise<string | undefined> => {
    const answer = await get(path);
    const listeners = "text" in answer ? json.parseListenerDump(answer.text) : undefined;
    if (listeners === undefined) return problemOf(answer);
    for (const listener of listeners) known.set(listener.name || ` ${listener.statName}`, listener); // names are not a must
    return undefined;
  };
  const problem = await read(json.staticListenersPath);
  if (problem !== undefined) return problem;
  const answer = await get(boundListenersPath);
  const bound = "text" in answer ? json.parseBoundListeners(answer.text) : undefined;
  if (bound === undefined) return problemOf(answer);
  const names = bound.map(({ name }) => name).filter((name) => !known.has(name));
  for (const group of groupNames(names)) {
    // an older Envoy, which knows no name_regex, has told all at once
    const isKnown = group.names.every((name) => known.has(name));
    const problem = isKnown ? undefined : await read(json.dynamicListenersPath(group));
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function problemOf(answer: AdminAnswer): string {
  return "problem" in answer ? answer.problem : "not what an Envoy answers";
}
