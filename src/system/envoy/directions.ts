import { directionsOf } from "../../core/envoy/directions.ts";
import { type Scope, scopeOf } from "../../core/envoy/drain.ts";
import { inboundOf } from "../../core/sidecars/registry.ts";
import { isAnswer } from "./admin.ts";
import { type KnownListeners, learnListeners } from "./listeners.ts";
import type { StepOptions } from "./step-options.ts";

/** How long to wait for the directions of listeners if an Envoy has many, or is slow: those of 2,000 take a second. */
export const PATIENCE_MS = 1000;

/**
 * The directions of an Envoy's listeners, as they are learned. If some are inbound only those are drained, and what is
 * outbound is not waited for.
 */
export interface Directions {
  /** Starts to learn them, unless that has begun. */
  begin(): void;
  /** Resolves when they are learned, or after `withinMs`. Starts to learn them if need be. */
  learned(withinMs: number): Promise<unknown>;
  /** Reports whether Envoy has been asked for all of them, even if it did not tell some. */
  areLearned(): boolean;
  /** Returns what is drained and what is waited for, by the directions that are known so far. */
  scope(): Scope;
}

/**
 * Creates an object that learns the directions of an Envoy's listeners from its configuration, once that begins. Logs
 * at debug if some cannot be learned. Nothing needs them if a mesh's statistics are thinned out: its clusters tell.
 */
export function createDirections({ sidecar, envoy, admin, log }: StepOptions): Directions {
  const known: KnownListeners = new Map();
  let learning: Promise<void> | undefined;
  let areLearned = false;
  const get = async (path: string) => {
    const outcome = await admin.get(path);
    return isAnswer(outcome) ? { text: outcome.body } : { problem: outcome.reason };
  };
  const learn = async (): Promise<void> => {
    const reason = await learnListeners(get, known);
    areLearned = true;
    if (reason !== undefined) log.debug({ sidecar, reason }, "cannot learn the direction of some listeners");
  };
  const begin = (): Promise<void> => {
    learning ??= learn();
    learning.catch(() => undefined); // it rejects when the drain ends; whoever awaits it before gets the error
    return learning;
  };
  return {
    begin: () => void begin(),
    learned: (withinMs) => Promise.race([begin(), Bun.sleep(withinMs)]),
    areLearned: () => areLearned,
    scope: () => scopeOf(envoy.drainPath, directionsOf([...known.values()]), inboundOf(sidecar)),
  };
}
