/** The time reserved for the app's own exit if no `--grace` says how long it may take. */
const APP_EXIT_MS = 5000;
/** The time reserved for the quits and ebb's own end: the kubelet kills ebb when the grace period is over. */
const LAST_MS = 1000;

/** The times that the options ask for. */
export interface ShutdownWishes {
  /** `--drain` in milliseconds; 0 for no draining. */
  readonly drainMs: number;
  /** `--grace`: milliseconds from the forwarded stop signal to SIGKILL; undefined for no SIGKILL. */
  readonly graceMs: number | undefined;
  /** The pod's terminationGracePeriodSeconds in milliseconds; undefined if it is not known. */
  readonly podGraceMs: number | undefined;
}

/** The times of `ShutdownWishes`, shortened to fit. */
export interface ShutdownPlan {
  readonly drainMs: number;
  readonly graceMs: number | undefined;
}

/**
 * Shortens drain and grace so that one after the other, with 1 s for the quits, they fit into the pod's grace period.
 * The drain leaves the app its grace (5 s if there is none), but at most half of that time. Changes nothing if
 * `podGraceMs` is undefined.
 */
export function planShutdown({ drainMs, graceMs, podGraceMs }: ShutdownWishes): ShutdownPlan {
  if (podGraceMs === undefined) return { drainMs, graceMs };
  const all = Math.max(0, podGraceMs - LAST_MS);
  const reserve = Math.min(graceMs ?? APP_EXIT_MS, all / 2);
  const drain = Math.min(drainMs, all - reserve);
  return { drainMs: drain, graceMs: graceMs === undefined ? undefined : Math.min(graceMs, all - drain) };
}

/** Splits the time of `ebb drain` between drain and quit: the quit gets a tenth, at most 1 s. */
export function splitDrain(totalMs: number): { readonly drainMs: number; readonly quitMs: number } {
  const quitMs = Math.min(1000, totalMs / 10);
  return { drainMs: totalMs - quitMs, quitMs };
}
