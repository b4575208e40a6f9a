import type { Stranger } from "../../core/sidecars/ownership/proof.ts";
import type { Log } from "../output/log.ts";

/** The proxies that nothing proves to be this pod's: each said once. */
export interface Strangers {
  readonly onStranger: (stranger: Stranger) => void;
  /** Whether one may be this pod's: it names no other. */
  readonly mayBeOurs: () => boolean;
}

/** `what`: what is therefore not done to them. */
export function createStrangers(log: Log, level: "info" | "warn" | "error", what: string): Strangers {
  const said = new Set<string>();
  let mayBeOurs = false;
  return {
    onStranger({ reason, isOthers }) {
      mayBeOurs ||= !isOthers;
      if (!said.has(reason)) log[isOthers ? "info" : level]({ reason }, what);
      said.add(reason);
    },
    mayBeOurs: () => mayBeOurs,
  };
}
