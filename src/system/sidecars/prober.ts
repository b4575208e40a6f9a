import type { Address } from "../../core/base/address.ts";
import { chooseJudge, maxAnswerOf, nameOf, type Probe, type Verdict } from "../../core/sidecars/probe.ts";
import { whyNotReady } from "../file.ts";
import { holdConnection, lookUp, type Pending } from "../http/connection.ts";
import { createHttpClient, type HttpClient } from "../http/http.ts";
import { REFUSED, RequestFailed, UNRESOLVED } from "../http/request-failed.ts";
import { tcpCheckAt } from "../http/tcp-check.ts";

/** The most attempts of one probe that are under way at the same time. */
export const MAX_IN_FLIGHT = 8;

/** Starts an attempt, which calls `done` once, maybe before this returns. Returns a function that cancels it. */
type Try = (done: (verdict: Verdict) => void) => () => void;

/**
 * Creates an HTTP client with the answer limit of this probe. `pending` counts its connections that are not open yet.
 */
export function clientFor(probe: Probe, pending?: Pending): HttpClient {
  const maxAnswer = probe.kind === "http" ? maxAnswerOf(probe.target) : undefined;
  return createHttpClient({ maxAnswer, pending });
}

/** A prober makes attempts of one readiness probe, and keeps a connection between them. */
export interface Prober extends Disposable {
  readonly attempt: Try;
  /** Reports whether an attempt under way is about to tell, so that another one would only cost the target. */
  readonly isDeciding?: () => boolean;
}

/** Creates a prober that makes attempts of the probe, one each time that `attempt` is called. */
export function proberOf(probe: Probe): Prober {
  const name = nameOf(probe);
  const prober = proberOfKind(probe);
  return name === undefined ? prober : { ...prober, attempt: lookUpFirst(name, prober.attempt) };
}

function proberOfKind(probe: Probe): Prober {
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
          const reason = whyNotReady(probe.path, probe.isNotEmpty === true);
          done(reason === undefined ? ready : { ready: false, reason });
          return nothing;
        },
        [Symbol.dispose]: nothing,
      };
  }
}

function proberOfHttp(probe: Extract<Probe, { kind: "http" }>): Prober {
  const { address } = probe.target;
  const pending: Pending = { count: 0 };
  const client = clientFor(probe, pending);
  const request = { method: "GET", target: probe.target, headers: probe.headers ?? [] };
  const judge = chooseJudge(probe);
  const attempt = tcpCheckFirst(address, pending, (done) =>
    client.send(request, (outcome) => done(outcome instanceof RequestFailed ? failed(outcome) : judge(outcome))),
  );
  return { attempt, [Symbol.dispose]: () => client[Symbol.dispose]() };
}

function proberOfConnect({ address, staysOpenMs: forMs = 0 }: Extract<Probe, { kind: "connect" }>): Prober {
  const pending: Pending = { count: 0 };
  const held: Pending = { count: 0 };
  const attempt = tcpCheckFirst(address, pending, (done) =>
    holdConnection(address, { forMs, pending, held }, (outcome) =>
      done(outcome === undefined ? ready : failed(outcome)),
    ),
  );
  return { attempt, isDeciding: () => held.count > 0, [Symbol.dispose]: nothing };
}

/**
 * Creates a prober that asks all of `probers`: ready as soon as one is, else not ready for the reasons of all, in their
 * order.
 */
function proberOfAny(probers: readonly Prober[]): Prober {
  const attempt: Try = (done) => {
    const reasons: string[] = [];
    // without those that have answered, which must not be cancelled: their connections are kept
    const pending = new Map<Prober, () => void>();
    const cancelAll = (): void => {
      for (const cancel of pending.values()) cancel();
      pending.clear();
    };
    for (const prober of probers) pending.set(prober, nothing);
    const take = (prober: Prober, verdict: Verdict): void => {
      pending.delete(prober);
      if (verdict.ready) cancelAll();
      else reasons[probers.indexOf(prober)] = verdict.reason;
      if (pending.size === 0) done(verdict.ready ? verdict : { ready: false, reason: joined(reasons) });
    };
    for (const prober of probers) {
      if (!pending.has(prober)) return nothing; // another one was ready at once
      const cancel = prober.attempt((verdict) => take(prober, verdict));
      if (pending.has(prober)) pending.set(prober, cancel);
    }
    return cancelAll;
  };
  const dispose = (): void => {
    for (const prober of probers) prober[Symbol.dispose]();
  };
  return { attempt, [Symbol.dispose]: dispose };
}

/** Joins the reasons, each once. */
function joined(reasons: readonly string[]): string {
  return [...new Set(reasons)].join(", ");
}

const ready: Verdict = { ready: true };
const refused: Verdict = { ready: false, reason: REFUSED };
const silent: Verdict = { ready: false, reason: "a process listens there, but accepts no connection" };
const unanswered: Verdict = { ready: false, reason: "no answer" };

/**
 * Makes attempts cheap: after a refusal, and while a connection is neither open nor refused, `tcpCheckAt` comes first.
 * A port that refuses again needs no more, and a server that accepts nothing would get ever more connections, which Bun
 * cannot end. Off loopback, where the check tells nothing, `MAX_IN_FLIGHT` limits those connections.
 */
function tcpCheckFirst(address: Address, pending: Pending, attempt: Try): Try {
  let wasRefused = false;
  let check: ReturnType<typeof tcpCheckAt>;
  return (done) => {
    if (wasRefused || pending.count > 0) {
      check ??= tcpCheckAt(address);
      const state = check?.() ?? "open";
      const verdict = state === "refused" ? refused : state === "silent" ? silent : undefined;
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

/**
 * Looks the name up until it has an address, and only then makes attempts, which look it up again: an attempt does not
 * tell whether it waits for a DNS server or for the target.
 */
function lookUpFirst(name: string, attempt: Try): Try {
  let unresolved: Verdict = { ready: false, reason: UNRESOLVED };
  let state: "unresolved" | "asked" | "resolved" = "unresolved";
  return (done) => {
    if (state === "resolved") return attempt(done);
    if (state === "asked") {
      done(unresolved);
      return nothing;
    }
    state = "asked";
    let isCancelled = false;
    let cancel = nothing;
    lookUp(name, (failure) => {
      state = failure === undefined ? "resolved" : "unresolved";
      if (failure !== undefined) unresolved = failed(failure);
      if (isCancelled) return;
      if (failure === undefined) cancel = attempt(done);
      else done(unresolved);
    });
    return () => {
      isCancelled = true;
      cancel();
    };
  };
}

function nothing(): void {
  // there is nothing to cancel
}

function failed({ message }: RequestFailed): Verdict {
  return { ready: false, reason: message };
}
