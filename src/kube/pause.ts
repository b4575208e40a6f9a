import { setTimeout as sleep } from "node:timers/promises";

const LONGEST_MS = 2 ** 31 - 1;

/** Over after so long, or when the signal is aborted, which is for the caller to look at. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(Math.min(Math.max(ms, 0), LONGEST_MS), undefined, { signal }).catch(() => undefined);
}

/** Lets one loop sleep until something happened; what happens while it is awake counts, too. */
export interface Bell {
  ring(): void;
  /** Over when it rings or has rung, after `ms`, or when the signal is aborted. */
  rung(ms: number, signal: AbortSignal): Promise<void>;
}

export function createBell(): Bell {
  let ringing = new AbortController();
  return {
    ring: () => ringing.abort(),
    async rung(ms, signal) {
      await pause(ms, AbortSignal.any([ringing.signal, signal]));
      ringing = new AbortController();
    },
  };
}
