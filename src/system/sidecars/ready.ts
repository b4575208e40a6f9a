import { formatDuration } from "../../core/base/duration.ts";
import {
  attemptToEnd,
  chooseJudge,
  maxAnswerOf,
  type Probe,
  pollPeriodMs,
  type Verdict,
} from "../../core/sidecars/probe.ts";
import { askAtOnce } from "./ask-at-once.ts";
import { MAX_IN_FLIGHT, proberOf } from "./prober.ts";
import { createSteadyWatcher } from "./steady.ts";

interface Attempt {
  readonly since: number;
  cancel: () => void;
}

export interface Hearer {
  /** Called with each reason why it is not ready. */
  readonly onNotReady: (reason: string) => void;
  /** Also when it is the same as at the last attempt; else such attempts are left to a thread (`createSteadyWatcher`). */
  readonly hearsAll: boolean;
}

/**
 * Resolves as soon as the probe says ready; rejects with the signal's reason when it is aborted. A new attempt starts each period,
 * answered or not, so that one that hangs delays nothing; above eight, one is ended so that a slow server is still heard.
 */
export function whenReady(probe: Probe, signal: AbortSignal, { onNotReady, hearsAll }: Hearer): Promise<void> {
  if (isReadyAtOnce(probe)) return Promise.resolve();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const prober = proberOf(probe);
  const start = performance.now();
  const attempts: Attempt[] = [];
  const watcher = createSteadyWatcher();
  let timer: Timer | undefined;

  const launch = (): void => {
    clearTimeout(timer);
    watcher.end();
    const now = performance.now();
    const period = pollPeriodMs(now - start);
    timer = setTimeout(launch, period);
    if (retire(attempts, now, period)) onNotReady("no answer");
    const attempt: Attempt = { since: now, cancel: () => undefined };
    attempts.push(attempt);
    attempt.cancel = prober.attempt((verdict) => {
      attempts.splice(attempts.indexOf(attempt), 1);
      if (verdict.ready) return resolve();
      onNotReady(verdict.reason);
      const isLeft = !hearsAll && attempts.length === 0;
      const next = isLeft ? watcher.begin(prober.steady(), now - start, onChange) : undefined;
      if (next === undefined) return;
      clearTimeout(timer);
      timer = setTimeout(launch, next);
    });
  };

  const onChange = (): void => {
    if (isReadyAtOnce(probe)) resolve();
    else launch();
  };

  const onAbort = () => reject(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  launch();
  return promise.finally(() => {
    clearTimeout(timer);
    watcher.end();
    signal.removeEventListener("abort", onAbort);
    for (const { cancel } of attempts) cancel();
    prober[Symbol.dispose]();
  });
}

function isReadyAtOnce(probe: Probe): boolean {
  if (probe.kind !== "http") return false;
  const answer = askAtOnce({ method: "GET", target: probe.target, headers: [] }, maxAnswerOf(probe.target));
  return answer !== undefined && chooseJudge(probe)(answer).ready;
}

/** Makes one attempt of at most `withinMs`. */
export function probeOnce(probe: Probe, withinMs: number): Promise<Verdict> {
  const { promise, resolve } = Promise.withResolvers<Verdict>();
  const prober = proberOf(probe);
  const cancel = prober.attempt(resolve);
  const timer = setTimeout(() => {
    cancel();
    resolve({ ready: false, reason: `no answer within ${formatDuration(withinMs)}` });
  }, withinMs);
  return promise.finally(() => {
    clearTimeout(timer);
    prober[Symbol.dispose]();
  });
}

/** Makes room for one more; whether one was ended that might still have been answered. */
function retire(attempts: Attempt[], now: number, period: number): boolean {
  if (attempts.length < MAX_IN_FLIGHT) return false;
  const ages: number[] = [];
  for (const { since } of attempts) ages.push(now - since);
  const [ended] = attempts.splice(attemptToEnd(ages, period), 1);
  ended?.cancel();
  return true;
}
