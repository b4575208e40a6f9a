import type { Log } from "../../system/output/log.ts";

/** What whatever goes on for long has with it. */
export interface Context {
  readonly log: Log;
  /** Aborted when it is to end. */
  readonly signal: AbortSignal;
}
