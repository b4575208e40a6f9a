import type { Address } from "../../core/base/address.ts";
import { memoizeLast } from "../../core/base/memoize-last.ts";
import { chooseJudge, maxAnswerOf, type Probe, type Verdict } from "../../core/sidecars/probe.ts";
import { isThere } from "../file.ts";
import { createHttpClient, type HttpClient, type Pending, REFUSED, connectAndClose } from "../http/http.ts";
import { RequestFailed } from "../http/request-failed.ts";
import { tcpCheckAt } from "../http/tcp-check.ts";
import type { Steady } from "./steady.ts";

/** As many attempts of one probe are under way at the most. */
export const MAX_IN_FLIGHT = 8;

/** Starts an attempt, which calls once with its verdict; returns what cancels it. */
type Try = (done: (verdict: Verdict) => void) => () => void;

/** Creates a client with the answer limit of this probe. */
export function clientFor(probe: Probe, pending?: Pending): HttpClient {
  const maxAnswer = probe.kind === "http" ? maxAnswerOf(probe.target) : undefined;
  return createHttpClient({ maxAnswer, pending });
}

/** What asks a probe again and again. */
export interface Prober extends Disposable {
  readonly attempt: Try;
  /** What the last attempt met; undefined where that cannot be watched. */
  readonly steady: () => readonly Steady[] | undefined;
}

/** Creates what carries out a probe, again and again. */
export function proberOf(probe: Probe): Prober {
  switch (probe.kind) {
    case "any":
      return proberOfAny(probe.probes.map(proberOf));
    case "http":
      return proberOfHttp(probe);
    case "connect":
      return proberOfConnect(probe);
    case "file":
      return {
        attempt(done) {
          done(isThere(probe.path) ? ready : absent);
          return nothing;
        },
        steady: () => undefined,
        [Symbol.dispose]: nothing,
      };
  }
}

function proberOfHttp(probe: Extract<Probe, { kind: "http" }>): Prober {
  const { address } = probe.target;
  const pending: Pending = { count: 0 };
  const client = clientFor(probe, pending);
  const request = { method: "GET", target: probe.target, headers: [] };
  const judgeAgain = memoizeLast(chooseJudge(probe));
  const { attempt, last } = withLast(
    doorFirst(address, pending, (done) =>
      client.send(request, (outcome) => done(outcome instanceof RequestFailed ? failed(outcome) : judgeAgain(outcome))),
    ),
  );
  const steady = (): readonly Steady[] | undefined => {
    const seen = client.last();
    if (isRefused(last())) return [{ address, exchanged: undefined }];
    const isLast = seen !== undefined && judgeAgain(seen.answer) === last();
    return isLast ? [{ address, exchanged: { request, seen } }] : undefined;
  };
  return { attempt, steady, [Symbol.dispose]: () => client[Symbol.dispose]() };
}

function proberOfConnect({ address }: Extract<Probe, { kind: "connect" }>): Prober {
  const pending: Pending = { count: 0 };
  const { attempt, last } = withLast(
    doorFirst(address, pending, (done) => {
      const tell = (outcome: RequestFailed | undefined) => done(outcome === undefined ? ready : failed(outcome));
      return connectAndClose(address, tell, pending);
    }),
  );
  const steady = () => (isRefused(last()) ? [{ address, exchanged: undefined }] : undefined);
  return { attempt, steady, [Symbol.dispose]: nothing };
}

/** Keeps the verdict of the last attempt. */
function withLast(attempt: Try): { readonly attempt: Try; readonly last: () => Verdict | undefined } {
  let last: Verdict | undefined;
  const kept: Try = (done) =>
    attempt((verdict) => {
      last = verdict;
      done(verdict);
    });
  return { attempt: kept, last: () => last };
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
  const steady = (): readonly Steady[] | undefined => {
    const all = probers.map((prober) => prober.steady() ?? []);
    return all.every(({ length }) => length > 0) ? all.flat() : undefined;
  };
  return { attempt, steady, [Symbol.dispose]: dispose };
}

/** Joins the reasons, each once. */
function joined(reasons: readonly string[]): string {
  return [...new Set(reasons)].join(", ");
}

const ready: Verdict = { ready: true };
const absent: Verdict = { ready: false, reason: "no such file" };
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
  let look: ReturnType<typeof tcpCheckAt>;
  return (done) => {
    if (wasRefused || pending.count > 0) {
      look ??= tcpCheckAt(address);
      const door = look?.() ?? "open";
      const verdict = door === "refused" ? refused : door === "silent" ? silent : undefined;
      const isCrowded = pending.count >= MAX_IN_FLIGHT;
      if (verdict !== undefined || isCrowded) {
        done(verdict ?? unanswered);
        return nothing;
      }
    }
    return attempt((verdict) => {
      wasRefused = isRefused(verdict);
      done(verdict);
    });
  };
}

function isRefused(verdict: Verdict | undefined): boolean {
  return verdict?.ready === false && verdict.reason === REFUSED;
}

function nothing(): void {
  // there is nothing to cancel
}

function failed({ message }: RequestFailed): Verdict {
  return { ready: false, reason: message };
}
