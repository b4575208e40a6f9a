import type { Signals } from "../../system/process/signals.ts";
import { onStop } from "../../system/process/stop.ts";

/** The first stop signal asks to leave, another one to leave at once. */
export interface Stops {
  readonly first: AbortSignal;
  readonly second: AbortSignal;
}

export function stopsOf(signals: Signals): Stops {
  const [first, second] = [new AbortController(), new AbortController()];
  onStop(signals, () => (first.signal.aborted ? second : first).abort());
  return { first: first.signal, second: second.signal };
}

export async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
}
