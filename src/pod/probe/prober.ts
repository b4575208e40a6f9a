import type { Address } from "../../shared/core/address.ts";
import { holdConnection, type Pending } from "../../shared/http/connection.ts";
import { watchName } from "../../shared/http/name-watch.ts";
import { REFUSED, RequestFailed } from "../../shared/http/request-failed.ts";
import { tcpCheckAt } from "../../shared/http/tcp-check.ts";
import { whyNotReady } from "../../shared/io/file.ts";
import {
  chooseJudge,
  maxAnswerOf,
  nameOf,
  type Probe,
  type Verdict,
  withIp,
} from "../../shared/sidecars/core/probe.ts";
import { createHttpClient, type HttpClient } from "../http/http.ts";

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
  if (name !== undefined) return proberByName(name, (ip) => proberOf(withIp(probe, ip)));
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
  const isDeciding = () => probers.some((prober) => prober.isDeciding?.());
  return { attempt, isDeciding, [Symbol.dispose]: dispose };
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

/** The most addresses of a name that are asked in one attempt; the next attempt asks the next ones. */
const MOST_ADDRESSES = 4;

/** For so long, in ms, a look-up may take before other attempts tell that there is no address yet. */
const LOOK_UP_MS = 249;

/** Creates a prober that asks at the addresses of a name, and is ready as soon as it is at one of them. */
function proberByName(name: string, proberAt: (ip: string) => Prober): Prober {
  const watch = watchName(name);
  // an address keeps its prober, which counts the connections that hang, while the DNS moves and leaves out addresses
  const known = new Map<string, Prober>();
  let ips: readonly string[] = [];
  let groups: readonly Prober[] = [];
  let attempts = 0;
  let isFirst = true;
  let quietUntil = 0;

  const follow = (found: readonly string[]): void => {
    if (found === ips) return;
    for (const [ip, prober] of known) if (!found.includes(ip)) prober[Symbol.dispose]();
    for (const ip of found) if (!known.has(ip)) known.set(ip, proberAt(ip));
    ips = found;
    groups = groupsOf(found.map((ip) => known.get(ip) as Prober));
  };
  const askNow: Try = (done) => {
    follow(watch.ips());
    const group = groups[attempts++ % groups.length];
    if (group !== undefined) return group.attempt(done);
    done({ ready: false, reason: watch.reason() });
    return nothing;
  };
  const attempt: Try = (done) => {
    const lookUp = watch.lookUpIfDue() ?? (isFirst ? watch.underWay() : undefined);
    isFirst = false;
    if (lookUp === undefined || watch.ips().length > 0) return askNow(done);
    quietUntil = performance.now() + LOOK_UP_MS;
    let cancel: (() => void) | undefined = nothing;
    void lookUp.then(() => {
      quietUntil = 0;
      if (cancel !== undefined) cancel = askNow(done);
    });
    return () => {
      cancel?.();
      cancel = undefined;
    };
  };
  return {
    attempt,
    isDeciding: () => performance.now() < quietUntil || groups.some((group) => group.isDeciding?.()),
    [Symbol.dispose]() {
      for (const prober of known.values()) prober[Symbol.dispose]();
    },
  };
}

function groupsOf(probers: readonly Prober[]): readonly Prober[] {
  const groups: Prober[] = [];
  for (let at = 0; at < probers.length; at += MOST_ADDRESSES)
    groups.push(proberOfAny(probers.slice(at, at + MOST_ADDRESSES)));
  return groups;
}

function nothing(): void {
  // there is nothing to cancel
}

function failed({ message }: RequestFailed): Verdict {
  return { ready: false, reason: message };
}
