import type { Log } from "../../shared/output/log.ts";
import { inboundOf } from "../../shared/sidecars/core/registry.ts";
import type { Sidecar } from "../../shared/sidecars/core/sidecar.ts";
import { type EnvoyAdmin, isAnswer } from "./admin.ts";
import type { InFlight } from "./core/in-flight.ts";
import { type DrainScope, type DumpedListener, type KnownListeners, scopeOf } from "./core/scope.ts";
import { boundListenersPath } from "./core/stats.ts";
import type { AdminAnswer } from "./core/status.ts";

/** What all steps of one Envoy's drain need. */
export interface DrainRequestOptions {
  readonly sidecar: Sidecar["name"];
  readonly envoy: NonNullable<Sidecar["envoy"]>;
  readonly admin: EnvoyAdmin;
  readonly log: Log;
  /** Called after each count. */
  readonly onProgress: ((sidecar: Sidecar["name"], inFlight: InFlight) => void) | undefined;
}

/**
 * Resolves with what is drained and what is waited for, by what is known of the listeners within half the limit of a
 * request. The first call starts to ask Envoy for them, and so does one with `isAgain`.
 */
export type AskScope = (isAgain?: boolean) => Promise<DrainScope>;

/** Creates an `AskScope`. It logs at debug if some directions cannot be read. */
export function createScope({ sidecar, envoy, admin, log }: DrainRequestOptions): AskScope {
  let known: KnownListeners = { dumped: [], bound: [] };
  let reading: Promise<void> | undefined;
  const get = async (path: string): Promise<AdminAnswer> => {
    const outcome = await admin.get(path);
    return isAnswer(outcome) ? { text: outcome.body } : { problem: outcome.reason };
  };
  const read = async (): Promise<void> => {
    const { parseBoundListeners } = await import("./core/json.ts");
    const [{ listeners, problem }, bound] = await Promise.all([readListeners(get), get(boundListenersPath)]);
    known = { dumped: listeners, bound: "text" in bound ? (parseBoundListeners(bound.text) ?? []) : [] };
    if (problem !== undefined) log.debug({ sidecar, reason: problem }, "cannot learn the direction of some listeners");
  };
  return async (isAgain = false) => {
    if (isAgain) reading = undefined;
    reading ??= read();
    await Promise.race([reading, Bun.sleep(admin.limitMs / 2)]);
    return scopeOf(envoy.drainPath, known, inboundOf(sidecar));
  };
}

interface DumpedListeners {
  readonly listeners: readonly DumpedListener[];
  /** Why some listeners are missing. Undefined if none is. */
  readonly problem: string | undefined;
}

/**
 * Reads the configuration of an Envoy's listeners by `get`, which sends a GET for a path to its admin interface: those
 * of its bootstrap and those from a control plane.
 */
export async function readListeners(get: (path: string) => Promise<AdminAnswer>): Promise<DumpedListeners> {
  const json = await import("./core/json.ts"); // zod: few starts need it
  const answers = await Promise.all([get(json.staticListenersPath), get(json.dynamicListenersPath)]);
  const listeners: DumpedListener[] = [];
  let problem: string | undefined;
  for (const answer of answers) {
    const dumped = "text" in answer ? json.parseListenerDump(answer.text) : undefined;
    if (dumped === undefined) problem ??= "problem" in answer ? answer.problem : "not what an Envoy answers";
    else listeners.push(...dumped);
  }
  return { listeners, problem };
}
