import { isStop } from "../core/signal.ts";
import type { Signals } from "../system/signals.ts";
import { deadline } from "../system/timer.ts";

/** The first stop signal asks to leave, another one to leave at once. */
export interface Stops {
  readonly first: AbortSignal;
  readonly second: AbortSignal;
}

export function stopsOf(signals: Signals): Stops {
  const [first, second] = [new AbortController(), new AbortController()];
  signals.subscribe((signal) => {
    if (isStop(signal)) (first.signal.aborted ? second : first).abort();
  });
  return { first: first.signal, second: second.signal };
}

/** Resolves after `ms`, or once `signal` is aborted. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    const cancel = deadline(ms, resolve);
    signal.addEventListener("abort", () => {
      cancel();
      resolve();
    });
  });
}
