/** For the app's own exit where no `--grace` says how long that may take. */
const APP_EXIT_MS = 5000;
/** For the quits and ebb's own end: the kubelet kills ebb when the grace period is over. */
const LAST_MS = 1000;

export interface ShutdownWishes {
  /** `--drain`: milliseconds; 0: no draining. */
  readonly drainMs: number;
  /** `--grace`: milliseconds from the forwarded stop signal to SIGKILL; undefined: never. */
  readonly graceMs: number | undefined;
  /** The pod's terminationGracePeriodSeconds in milliseconds, where it is known. */
  readonly podGraceMs: number | undefined;
}

export interface ShutdownPlan {
  readonly drainMs: number;
  readonly graceMs: number | undefined;
}

/**
 * Fits drain and grace, one after the other, and the quits into the pod's grace period. The drain leaves the app its grace (5 s
 * where there is none), but takes at most half of the period.
 */
export function planShutdown({ drainMs, graceMs, podGraceMs }: ShutdownWishes): ShutdownPlan {
  if (podGraceMs === undefined) return { drainMs, graceMs };
  const all = Math.max(0, podGraceMs - LAST_MS);
  const reserve = Math.min(graceMs ?? APP_EXIT_MS, all / 2);
  const drain = Math.min(drainMs, all - reserve);
  return { drainMs: drain, graceMs: graceMs === undefined ? undefined : Math.min(graceMs, all - drain) };
}

/** Splits a command's time between drain and quit: the quit has a tenth, at most a second. */
export function splitDrain(totalMs: number): { readonly drainMs: number; readonly quitMs: number } {
  const quitMs = Math.min(1000, totalMs / 10);
  return { drainMs: totalMs - quitMs, quitMs };
}
