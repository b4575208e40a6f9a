import type { Signals } from "../../system/process/signals.ts";
import { onStop } from "../../system/process/stop.ts";

/** The first stop signal asks to leave, another one to leave at once. */
export interface Stops {
  readonly first: AbortSignal;
  readonly second: AbortSignal;
}

/** Returns two abort signals: the first stop signal aborts `first`, another one `second`. */
export function stopsOf(signals: Signals): Stops {
  const [first, second] = [new AbortController(), new AbortController()];
  onStop(signals, () => (first.signal.aborted ? second : first).abort());
  return { first: first.signal, second: second.signal };
}

/** Resolves when a signal is aborted. */
export async function whenAborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
}
