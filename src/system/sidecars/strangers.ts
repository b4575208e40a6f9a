import type { Message, MessageAt } from "../../core/messages/log-types.ts";
import type { Level } from "../../core/messages/message.ts";
import type { Stranger } from "../../core/sidecars/ownership/proof.ts";
import { type Log, logAt } from "../output/log.ts";

/** The proxies that nothing proves to be this pod's. */
export interface Strangers {
  /** Adds a proxy, and logs it unless it was logged for the same reason. */
  readonly onStranger: (stranger: Stranger) => void;
  /** Reports whether one of them may be this pod's, because it names no other pod. */
  readonly mayBeOurs: () => boolean;
}

type Skipped = Extract<Message, `did not ${string} a proxy${string}`>;
type SkippedAt<L extends Level> = Skipped & MessageAt<L | "info">;

/**
 * Creates a registry of proxies that nothing proves to be this pod's. It logs each of them once, with `message`, which
 * says what ebb did not do to it: at `level`, or at info if the proxy names another pod.
 */
export function createStrangers<L extends "info" | "warn" | "error", M extends SkippedAt<L>>(
  log: Log,
  level: L,
  message: M,
): Strangers {
  const said = new Set<string>();
  let mayBeOurs = false;
  return {
    onStranger({ reason, isOthers }) {
      mayBeOurs ||= !isOthers;
      const at = (isOthers ? "info" : level) as "info" | "warn" | "error";
      // all of them have this field, and the levels that the caller gives
      if (!said.has(reason)) logAt(log, at, { reason }, message as "did not tell a proxy to quit");
      said.add(reason);
    },
    mayBeOurs: () => mayBeOurs,
  };
}
