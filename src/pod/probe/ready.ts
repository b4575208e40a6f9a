import { formatDuration } from "../../shared/core/duration.ts";
import { attemptToEnd, type Probe, type ProbeVerdict, pollPeriodMs } from "../../shared/sidecars/core/probe.ts";
import { proberOf } from "./probers/kinds.ts";
import { MAX_IN_FLIGHT } from "./probers/server.ts";

interface Attempt {
  readonly since: number;
  cancel: () => void;
}

/**
 * Resolves as soon as the probe says ready. Rejects with the signal's reason if that is aborted; there is no other time
 * limit. A new attempt starts each period (`pollPeriodMs`), whether or not the last was answered, so that one that hangs
 * delays nothing; none starts while an open connection is about to decide. With 8 (`MAX_IN_FLIGHT`) under way one is
 * ended, chosen so that a slow answer still counts. `onNotReady` gets the reason of each attempt that was not ready.
 */
export function whenReady(probe: Probe, signal: AbortSignal, onNotReady: (reason: string) => void): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const prober = proberOf(probe);
  const start = performance.now();
  const attempts: Attempt[] = [];
  let timer: Timer | undefined;

  const launch = (): void => {
    const now = performance.now();
    timer = setTimeout(launch, pollPeriodMs(now - start));
    if (prober.isDeciding?.() === true) return;
    if (endOneOf(attempts, now, start)) onNotReady("no answer");
    const attempt: Attempt = { since: now, cancel: () => undefined };
    attempts.push(attempt);
    attempt.cancel = prober.attempt((verdict) => {
      attempts.splice(attempts.indexOf(attempt), 1);
      if (verdict.ready) resolve();
      else onNotReady(verdict.reason);
    });
  };

  const onAbort = () => reject(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  launch();
  return promise.finally(() => {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
    for (const { cancel } of attempts) cancel();
    prober.end?.();
  });
}

/** How long a readiness endpoint on loopback, which answers at once, may take in one attempt. */
export const LOOPBACK_MS = 250;

/**
 * Makes one attempt, and resolves with its verdict: not ready if there is no answer within `withinMs`. Never rejects.
 */
export function probeOnce(probe: Probe, withinMs: number): Promise<ProbeVerdict> {
  const { promise, resolve } = Promise.withResolvers<ProbeVerdict>();
  const prober = proberOf(probe);
  const cancel = prober.attempt(resolve);
  const timer = setTimeout(() => {
    cancel();
    resolve({ ready: false, reason: `no answer within ${formatDuration(withinMs)}` });
  }, withinMs);
  return promise.finally(() => {
    clearTimeout(timer);
    prober.end?.();
  });
}

/** Makes room for one more attempt. Returns whether it ended one, which might still have been answered. */
function endOneOf(attempts: Attempt[], now: number, start: number): boolean {
  const second = attempts[1];
  if (second === undefined || attempts.length < MAX_IN_FLIGHT) return false;
  const [ended] = attempts.splice(attemptToEnd(now - second.since, now - start), 1);
  ended?.cancel();
  return true;
}
