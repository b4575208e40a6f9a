import type { LogLine } from "../harness.ts";
import type { Seen } from "./live.ts";
import type { Plan } from "./plan/planned.ts";

/** What one rule of the contract says of a run. `time`: a machine that stands still breaks it too. */
export interface Violation {
  readonly kind: "always" | "time";
  readonly what: string;
}

/** What a rule needs to know. */
export interface Case {
  readonly plan: Plan;
  readonly seen: Seen;
  readonly log: readonly LogLine[];
  /** The application's own process; undefined: it never said a word. */
  readonly app: Seen["lives"][number] | undefined;
  broken(kind: Violation["kind"], what: string): void;
}

/** What anything may take beyond its limit: a hang is looked for, not slowness. */
export const SLACK_MS = 5000;
