import type { LogLine } from "../harness/ebb.ts";
import type { Seen } from "./live.ts";
import type { Plan } from "./plan/planned.ts";

/**
 * A rule of the contract that a run has broken. A machine that stands still can break a rule of the kind `time` too.
 */
export interface Violation {
  readonly kind: "always" | "time";
  readonly what: string;
}

/** A run to be judged. */
export interface Case {
  readonly plan: Plan;
  readonly seen: Seen;
  readonly log: readonly LogLine[];
  /** The application's first process; undefined if it never said a word. */
  readonly app: Seen["lives"][number] | undefined;
  /** Notes a violation. */
  broken(kind: Violation["kind"], what: string): void;
}

/** The time, in ms, that anything may take beyond its limit: the rules look for hangs, not for slowness. */
export const SLACK_MS = 5000;
