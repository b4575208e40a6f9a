import type { Log } from "../../shared/output/log.ts";

/** What each long-running task of the cluster side is given. */
export interface Context {
  readonly log: Log;
  /** Aborted when the task is to end. */
  readonly signal: AbortSignal;
}
