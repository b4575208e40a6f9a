import type { DumpedListener } from "../../core/envoy/directions.ts";
import { groupNames } from "../../core/envoy/name-groups.ts";
import { boundListenersPath } from "../../core/envoy/stats-query.ts";
import type { AdminAnswer } from "../../core/envoy/status.ts";

/** Sends a GET for a path to an admin interface. */
export type Get = (path: string) => Promise<AdminAnswer>;

/** Maps names of listeners to their configuration, as far as it was read. */
export type KnownListeners = Map<string, DumpedListener>;

/**
 * Reads the configuration of listeners that are not in `known` from Envoy's /config_dump, and adds it to `known`: first
 * the static ones, then those from a control plane, up to 50 at a time. Resolves with undefined if all were read, else
 * with the reason why not.
 */
export async function learnListeners(get: Get, known: KnownListeners): Promise<string | undefined> {
  const json = await import("../../core/envoy/json.ts"); // zod: few starts need it
  const read = async (path: string): Promise<string | undefined> => {
    const answer = await get(path);
    const listeners = "text" in answer ? json.parseListenerDump(answer.text) : undefined;
    if (listeners === undefined) return problemOf(answer);
    // a listener need not have a name
    for (const listener of listeners) known.set(listener.name || ` ${listener.statName}`, listener);
    return undefined;
  };
  const problem = await read(json.staticListenersPath);
  if (problem !== undefined) return problem;
  const answer = await get(boundListenersPath);
  const bound = "text" in answer ? json.parseBoundListeners(answer.text) : undefined;
  if (bound === undefined) return problemOf(answer);
  const names = bound.map(({ name }) => name).filter((name) => !known.has(name));
  for (const group of groupNames(names)) {
    // an older Envoy, which knows no name_regex, answers with all at once
    const isKnown = group.names.every((name) => known.has(name));
    const problem = isKnown ? undefined : await read(json.dynamicListenersPath(group));
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function problemOf(answer: AdminAnswer): string {
  return "problem" in answer ? answer.problem : "not what an Envoy answers";
}
