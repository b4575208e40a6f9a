import type { InFlight } from "../../core/envoy/in-flight.ts";
import { type DrainScope, type DumpedListener, scopeOf } from "../../core/envoy/inbound.ts";
import type { AdminAnswer } from "../../core/envoy/status.ts";
import { inboundOf } from "../../core/sidecars/registry.ts";
import type { Sidecar } from "../../core/sidecars/sidecar.ts";
import type { Log } from "../output/log.ts";
import { type EnvoyAdmin, isAnswer } from "./admin.ts";

/** What all steps of one Envoy's drain need. */
export interface StepOptions {
  readonly sidecar: Sidecar["name"];
  readonly envoy: NonNullable<Sidecar["envoy"]>;
  readonly admin: EnvoyAdmin;
  readonly log: Log;
  /** Called after each count. */
  readonly onProgress: ((sidecar: Sidecar["name"], inFlight: InFlight) => void) | undefined;
}

/** How long to wait for the directions of listeners if an Envoy is slow. */
const PATIENCE_MS = 1000;

/**
 * Resolves with what is drained and what is waited for, by the directions of the listeners that are known within 1 s
 * (`PATIENCE_MS`). The first call starts to read them from Envoy's configuration.
 */
export type AskScope = () => Promise<DrainScope>;

/** Creates an `AskScope`. It logs at debug if some directions cannot be read. */
export function createScope({ sidecar, envoy, admin, log }: StepOptions): AskScope {
  let known: readonly DumpedListener[] = [];
  let reading: Promise<void> | undefined;
  const read = async (): Promise<void> => {
    const { listeners, problem } = await readListeners(async (path) => {
      const outcome = await admin.get(path);
      return isAnswer(outcome) ? { text: outcome.body } : { problem: outcome.reason };
    });
    known = listeners;
    if (problem !== undefined) log.debug({ sidecar, reason: problem }, "cannot learn the direction of some listeners");
  };
  return async () => {
    reading ??= read();
    await Promise.race([reading, Bun.sleep(PATIENCE_MS)]);
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
  const json = await import("../../core/envoy/json.ts"); // zod: few starts need it
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
