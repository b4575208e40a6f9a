import type { Signals } from "../../shared/process/signals.ts";
import { onStop } from "../../shared/process/stop.ts";

/** Requests to leave: the first one in order, the second one at once. */
interface Stops {
  readonly first: AbortSignal;
  readonly second: AbortSignal;
}

/**
 * Subscribes to ebb's signals, and returns two abort signals: the first stop signal (SIGTERM, SIGINT, ...) aborts
 * `first`, each further one `second`.
 */
export function stopsOf(signals: Signals): Stops {
  const [first, second] = [new AbortController(), new AbortController()];
  onStop(signals, () => (first.signal.aborted ? second : first).abort());
  return { first: first.signal, second: second.signal };
}

/** Resolves when the signal is aborted, at once if it already is. Never rejects. */
export async function whenAborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
}
