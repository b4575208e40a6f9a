import type { Address } from "../core/address.ts";
import { formatDuration } from "../core/duration.ts";
import { attemptToEnd, judgeOf, maxAnswerOf, type Probe, pollPeriodMs, type Verdict } from "../core/probe.ts";
import { remember } from "../core/remember.ts";
import { askAtOnce } from "./ask-at-once.ts";
import { doorAt } from "./door.ts";
import { isThere } from "./file.ts";
import { createHttpClient, type HttpClient, type Pending, REFUSED, sendNothing } from "./http.ts";
import { RequestFailed } from "./request-failed.ts";

const MAX_IN_FLIGHT = 8;
const ATTEMPT_LIFE_MS = 5000;

interface Attempt {
  readonly since: number;
  cancel: () => void;
}

/** Starts an attempt, which calls once with its verdict; returns what cancels it. */
type Try = (done: (verdict: Verdict) => void) => () => void;

/**
 * Resolves as soon as the probe says ready; rejects with the signal's reason when it is aborted. A new attempt starts each
 * period whether or not the last was answered, so that one that hangs delays nothing; of more than eight at a time one
 * makes room so that a slow server is still heard.
 */
export function whenReady(probe: Probe, signal: AbortSignal, onNotReady: (reason: string) => void): Promise<void> {
  if (isReadyAtOnce(probe)) return Promise.resolve();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const prober = proberOf(probe);
  const start = performance.now();
  const attempts: Attempt[] = [];
  let timer: Timer | undefined;

  const launch = (): void => {
    const now = performance.now();
    const period = pollPeriodMs(now - start);
    timer = setTimeout(launch, period);
    if (retire(attempts, now, period)) onNotReady("no answer");
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
    prober[Symbol.dispose]();
  });
}

function isReadyAtOnce(probe: Probe): boolean {
  if (probe.kind !== "http") return false;
  const answer = askAtOnce({ method: "GET", target: probe.target, headers: [] }, maxAnswerOf(probe.target));
  return answer !== undefined && judgeOf(probe)(answer).ready;
}

/** One attempt: never longer than `withinMs`. */
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
  const [oldest] = attempts;
  if (oldest !== undefined && now - oldest.since >= ATTEMPT_LIFE_MS) attempts.shift()?.cancel();
  if (attempts.length < MAX_IN_FLIGHT) return false;
  const ages: number[] = [];
  for (const { since } of attempts) ages.push(now - since);
  const [ended] = attempts.splice(attemptToEnd(ages, period), 1);
  ended?.cancel();
  return true;
}

/** A client whose answers may be as long as this probe's are. */
export function clientFor(probe: Probe, pending?: Pending): HttpClient {
  const maxAnswer = probe.kind === "http" ? maxAnswerOf(probe.target) : undefined;
  return createHttpClient({ maxAnswer, pending });
}

/** What asks a probe again and again. */
interface Prober extends Disposable {
  readonly attempt: Try;
}

function proberOf(probe: Probe): Prober {
  if (probe.kind === "any") return proberOfAny(probe.probes.map(proberOf));
  const pending: Pending = { count: 0 };
  const client = clientFor(probe, pending);
  return { attempt: tryOf(probe, client, pending), [Symbol.dispose]: () => client[Symbol.dispose]() };
}

function tryOf(probe: Exclude<Probe, { kind: "any" }>, client: HttpClient, pending: Pending): Try {
  switch (probe.kind) {
    case "http": {
      const request = { method: "GET", target: probe.target, headers: [] };
      const judgeAgain = remember(judgeOf(probe));
      return doorFirst(probe.target.address, pending, (done) =>
        client.send(request, (outcome) =>
          done(outcome instanceof RequestFailed ? failed(outcome) : judgeAgain(outcome)),
        ),
      );
    }
    case "connect":
      return doorFirst(probe.address, pending, (done) => {
        const tell = (outcome: RequestFailed | undefined) => done(outcome === undefined ? ready : failed(outcome));
        return sendNothing(probe.address, tell, pending);
      });
    case "file":
      return (done) => {
        done(isThere(probe.path) ? { ready: true } : { ready: false, reason: "no such file" });
        return nothing;
      };
  }
}

/** Asks all of them; says ready with the first that is, and what each said, in their order, when none is. */
function proberOfAny(probers: readonly Prober[]): Prober {
  const attempt: Try = (done) => {
    const reasons: string[] = [];
    const pending = new Map<Prober, () => void>(); // one that has answered must not be cancelled: its connection is kept
    const cancelAll = (): void => {
      for (const cancel of pending.values()) cancel();
      pending.clear();
    };
    for (const prober of probers) pending.set(prober, nothing);
    const hear = (prober: Prober, verdict: Verdict): void => {
      pending.delete(prober);
      if (verdict.ready) cancelAll();
      else reasons[probers.indexOf(prober)] = verdict.reason;
      if (pending.size === 0) done(verdict.ready ? verdict : { ready: false, reason: joined(reasons) });
    };
    for (const prober of probers) {
      if (!pending.has(prober)) return nothing; // another one was ready at once
      const cancel = prober.attempt((verdict) => hear(prober, verdict));
      if (pending.has(prober)) pending.set(prober, cancel);
    }
    return cancelAll;
  };
  const dispose = (): void => {
    for (const prober of probers) prober[Symbol.dispose]();
  };
  return { attempt, [Symbol.dispose]: dispose };
}

/** Each reason once. */
function joined(reasons: readonly string[]): string {
  return [...new Set(reasons)].join(", ");
}

const ready: Verdict = { ready: true };
const refused: Verdict = { ready: false, reason: REFUSED };
const silent: Verdict = { ready: false, reason: "it listens, but accepts no connection" };
const unanswered: Verdict = { ready: false, reason: "no answer" };

/**
 * After a refusal, and while a connection is neither open nor refused, the cheap check comes first: what is refused again needs
 * no more, and what accepts nothing would get ever more connections, which Bun cannot end. Elsewhere than on loopback, where
 * that cannot be told, those are bounded.
 */
function doorFirst(address: Address, pending: Pending, attempt: Try): Try {
  let wasRefused = false;
  let look: ReturnType<typeof doorAt>;
  return (done) => {
    if (wasRefused || pending.count > 0) {
      look ??= doorAt(address);
      const door = look?.() ?? "open";
      const verdict = door === "refused" ? refused : door === "silent" ? silent : undefined;
      const isCrowded = pending.count >= MAX_IN_FLIGHT;
      if (verdict !== undefined || isCrowded) {
        done(verdict ?? unanswered);
        return nothing;
      }
    }
    return attempt((verdict) => {
      wasRefused = !verdict.ready && verdict.reason === REFUSED;
      done(verdict);
    });
  };
}

function nothing(): void {
  // there is nothing to cancel
}

function failed({ message }: RequestFailed): Verdict {
  return { ready: false, reason: message };
}
