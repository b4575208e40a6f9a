import type { Message, MessageAt } from "../../core/messages/log-types.ts";
import type { Level } from "../../core/messages/message.ts";
import type { Stranger } from "../../core/sidecars/ownership/proof.ts";
import { type Log, logAt } from "../output/log.ts";

/** The proxies that nothing proves to be this pod's: each said once. */
export interface Strangers {
  readonly onStranger: (stranger: Stranger) => void;
  /** Whether one may be this pod's: it names no other. */
  readonly mayBeOurs: () => boolean;
}

type Skipped = Extract<Message, `did not ${string} a proxy`>;
type SkippedAt<L extends Level> = Skipped & MessageAt<L | "info">;

/**
 * Creates a collector of proxies that are not proved to be this pod's, and logs each once. `message`: what is therefore not done
 * to them.
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
      if (!said.has(reason)) logAt(log, at, { reason }, message as "did not quit a proxy");
      said.add(reason);
    },
    mayBeOurs: () => mayBeOurs,
  };
}
