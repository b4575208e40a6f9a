import type { Cancel } from "../../shared/http/connection.ts";
import type { ProbeVerdict } from "../../shared/sidecars/core/probe.ts";

/** Makes attempts of one readiness probe, and keeps a connection between them. */
export interface Prober {
  /** Starts an attempt, which calls `done` once, maybe before this returns. */
  attempt(done: OnVerdict): Cancel;
  /** Reports whether an attempt under way is about to tell, so that another one would only cost the target. */
  isDeciding?(): boolean;
  /** Closes the connection that is kept. */
  end?(): void;
}

export type OnVerdict = (verdict: ProbeVerdict) => void;

export const ready: ProbeVerdict = { ready: true };

export function notReady(reason: string): ProbeVerdict {
  return { ready: false, reason };
}

export function cancelNothing(): void {
  // there is nothing to cancel
}

/** Starts an attempt when `event` resolves, unless that is cancelled before. */
export function startAfter(event: Promise<void>, start: () => Cancel): Cancel {
  let cancel: Cancel | undefined = cancelNothing;
  void event.then(() => {
    if (cancel !== undefined) cancel = start();
  });
  return () => {
    cancel?.();
    cancel = undefined;
  };
}
