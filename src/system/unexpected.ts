import type { Log } from "./log.ts";
import { deadline } from "./timer.ts";

let goOn: ((error: unknown) => void) | undefined;

/** From now on an error that nobody has caught ends nothing: `call` says it. */
export function surviveErrors(call: (error: unknown) => void): void {
  goOn = call;
}

/** Whether ebb goes on after an error that nobody has caught. */
export function isSurvived(error: unknown): boolean {
  goOn?.(error);
  return goOn !== undefined;
}

export function logBug(log: Log, error: unknown, what: string): void {
  log.error({ error: error instanceof Error ? error.stack : String(error) }, `a bug in ebb: ${what}`);
}

/** More than what has its own bound takes: only an error that nobody expects can hold it up for longer. */
const SPARE_MS = 1000;

/** Resolves as `work` does, and with undefined where that takes longer than it can. */
export function bounded<T>(work: Promise<T>, ms: number): Promise<T | undefined> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const cancel = deadline(ms + SPARE_MS, () => resolve(undefined));
  return Promise.race([work, promise]).finally(cancel);
}
