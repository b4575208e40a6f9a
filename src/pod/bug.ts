import { deadline } from "../shared/io/timer.ts";
import type { Log } from "../shared/output/log.ts";
import { writeError } from "../shared/output/output.ts";

let onUncaught: ((error: unknown) => void) | undefined;

/** Sets the function that gets uncaught errors. From then on they do not end ebb. */
export function setUncaughtHandler(call: (error: unknown) => void): void {
  onUncaught = call;
}

/** Passes an uncaught error to the handler. Returns false if none is set: the caller then has to end ebb. */
export function handleUncaught(error: unknown): boolean {
  onUncaught?.(error);
  return onUncaught !== undefined;
}

/**
 * Logs an error, with its stack, as a bug in ebb. `what` says what failed. Writes to stderr if the log itself throws.
 */
export function logBug(log: Log, error: unknown, what: string): void {
  const detail = error instanceof Error ? error.stack : String(error);
  try {
    log.error({ what, error: detail }, "a bug in ebb: please report it");
  } catch {
    writeError(`ebb: error: a bug in ebb: please report it: ${what}: ${detail}\n`);
  }
}

/** Runs `work`. If it fails, logs that as a bug in ebb (`what` failed) and resolves with undefined. Never rejects. */
export async function runOrLogBug<T>(work: () => Promise<T>, log: Log, what: string): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    logBug(log, error, what);
    return undefined;
  }
}

/** Such work ends by itself before: only a bug can hold it up for longer. */
const SPARE_MS = 1000;

/** Settles as `work` does, or resolves with undefined after `ms` and 1 s more (`SPARE_MS`). `work` itself goes on. */
export function withTimeLimit<T>(work: Promise<T>, ms: number): Promise<T | undefined> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const cancel = deadline(ms + SPARE_MS, () => resolve(undefined));
  return Promise.race([work, promise]).finally(cancel);
}
