/** The time reserved for the app's own exit if no `--grace` says how long it may take. */
const APP_EXIT_MS = 5000;
/** The time reserved for the quits and ebb's own end: the kubelet kills ebb when the grace period is over. */
const LAST_MS = 1000;

/** The time kept at the end of a drain for draining the listeners. */
const LISTENERS_MS = 1000;

/** The values of `--drain`, `--grace` and `--pod-grace`, in milliseconds. */
export interface ShutdownWishes {
  /** 0 for no draining. */
  readonly drain: number;
  /** From the forwarded stop signal to SIGKILL; undefined for no SIGKILL. */
  readonly grace?: number | undefined;
  /** The pod's terminationGracePeriodSeconds; undefined if it is not known. */
  readonly podGrace: number | undefined;
}

/** The times of `ShutdownWishes`, shortened to fit. */
export interface ShutdownPlan {
  /** The time of the drain at most. */
  readonly drainMs: number;
  /** The grace if the drain needs no time. */
  readonly graceMs: number | undefined;
  /** The time of both together at most; undefined if it is not known. */
  readonly allMs: number | undefined;
}

/**
 * Shortens drain and grace so that one after the other, with 1 s for the quits, they fit into the pod's grace period.
 * The drain leaves the app its grace (5 s if there is none), but at most half of that time. Changes nothing if
 * `podGrace` is undefined.
 */
export function planShutdown({ drain, grace, podGrace }: ShutdownWishes): ShutdownPlan {
  if (podGrace === undefined) return { drainMs: drain, graceMs: grace, allMs: undefined };
  const allMs = Math.max(0, podGrace - LAST_MS);
  const reserve = Math.min(grace ?? APP_EXIT_MS, allMs / 2);
  return {
    drainMs: Math.min(drain, allMs - reserve),
    graceMs: grace === undefined ? undefined : Math.min(grace, allMs),
    allMs,
  };
}

/** Reports whether a plan has less time for the drain, or for the grace after all of it, than is wished. */
export function isShortened(
  { drain, grace = 0 }: ShutdownWishes,
  { drainMs, allMs = drain + grace }: ShutdownPlan,
): boolean {
  return drainMs < drain || allMs - drainMs < grace;
}

/** Returns the grace of a plan that begins `elapsedMs` after the stop signal: what the drain did not need is in it. */
export function graceAfter(elapsedMs: number, { graceMs = 0, allMs = Number.POSITIVE_INFINITY }: ShutdownPlan): number {
  return Math.max(0, Math.min(graceMs, allMs - elapsedMs));
}

/** Splits the time of `ebb drain` between drain and quit: the quit gets a tenth, at most 1 s. */
export function splitDrain(wholeMs: number): { readonly drainMs: number; readonly quitMs: number } {
  const quitMs = Math.min(1000, wholeMs / 10);
  return { drainMs: wholeMs - quitMs, quitMs };
}

/**
 * Returns --min-drain in milliseconds, shortened so that a second is left before the bound for draining the listeners,
 * or half of a bound below two seconds.
 */
export function fitMinimum(minMs: number, boundMs: number): number {
  return Math.min(minMs, Math.max(boundMs - LISTENERS_MS, boundMs / 2));
}
