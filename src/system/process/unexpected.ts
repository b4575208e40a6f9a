import type { Log } from "../output/log.ts";
import { writeError } from "../output/output.ts";
import { deadline } from "../timer.ts";

let onUncaught: ((error: unknown) => void) | undefined;

/** Makes an uncaught error call `call` instead of ending the process. */
export function setUncaughtHandler(call: (error: unknown) => void): void {
  onUncaught = call;
}

/** Whether ebb goes on after an error that nobody has caught. */
export function handleUncaught(error: unknown): boolean {
  onUncaught?.(error);
  return onUncaught !== undefined;
}

/** Logs an error as a bug in ebb; writes it to stderr where the log itself has failed. */
export function logBug(log: Log, error: unknown, what: string): void {
  const detail = error instanceof Error ? error.stack : String(error);
  try {
    log.error({ what, error: detail }, "a bug in ebb: please report it");
  } catch {
    writeError(`ebb: error: a bug in ebb: please report it: ${what}: ${detail}\n`);
  }
}

/** Runs `work`; where it rejects, logs that as a bug in ebb and resolves to undefined. Never rejects. */
export async function runOrLogBug<T>(work: () => Promise<T>, log: Log, what: string): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    logBug(log, error, what);
    return undefined;
  }
}

/** More than what has its own bound takes: only an error that nobody expects can hold it up for longer. */
const SPARE_MS = 1000;

/** Resolves as `work` does, and with undefined where that takes longer than it can. */
export function withTimeLimit<T>(work: Promise<T>, ms: number): Promise<T | undefined> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const cancel = deadline(ms + SPARE_MS, () => resolve(undefined));
  return Promise.race([work, promise]).finally(cancel);
}
