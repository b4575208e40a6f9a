import { directionsOf } from "../../core/envoy/directions.ts";
import { type Scope, scopeOf } from "../../core/envoy/drain.ts";
import { inboundOf } from "../../core/sidecars/registry.ts";
import { isAnswer } from "./admin.ts";
import { type KnownListeners, learnListeners } from "./listeners.ts";
import type { StepOptions } from "./step-options.ts";

/** For the directions of listeners, where an Envoy has many, or is slow to tell them: those of 2,000 take a second. */
export const PATIENCE_MS = 1000;

/** Which listeners are inbound and outbound: where some are inbound only those are drained, and what is outbound is not waited for. */
export interface Directions {
  begin(): void;
  /** Resolves when they are learned, or have taken too long. */
  learned(withinMs: number): Promise<unknown>;
  areLearned(): boolean;
  /** By what is known so far. */
  scope(): Scope;
}

/** They are not needed where a mesh's statistics are thinned out: its clusters tell. */
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
    learning.catch(() => undefined); // it ends with the drain; before, who awaits it is told
    return learning;
  };
  return {
    begin: () => void begin(),
    learned: (withinMs) => Promise.race([begin(), Bun.sleep(withinMs)]),
    areLearned: () => areLearned,
    scope: () => scopeOf(envoy.drainPath, directionsOf([...known.values()]), inboundOf(sidecar)),
  };
}
