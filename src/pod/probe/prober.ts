import type { Address } from "../../shared/core/address.ts";
import { type Cancel, type ConnectionCounts, type Done, holdConnection } from "../../shared/http/connection.ts";
import type { HttpAnswer } from "../../shared/http/core/http-framing.ts";
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
import type { GrpcProbe, HealthClient } from "./grpc.ts";

/** The most attempts of one probe that are under way at the same time. */
export const MAX_IN_FLIGHT = 8;

/** Makes attempts of one readiness probe, and keeps a connection between them. */
interface Prober extends Disposable {
  /** Starts an attempt, which calls `done` once, maybe before this returns. */
  attempt(done: OnVerdict): Cancel;
  /** Reports whether an attempt under way is about to tell, so that another one would only cost the target. */
  isDeciding(): boolean;
}

type OnVerdict = (verdict: Verdict) => void;

/** Creates a prober that makes attempts of the probe, one each time that `attempt` is called. */
export function proberOf(probe: Probe): Prober {
  const name = nameOf(probe);
  if (name !== undefined) return proberOfName(name, (ip) => proberOf(withIp(probe, ip)));
  switch (probe.kind) {
    case "any":
      return proberOfAny(probe.probes.map(proberOf));
    case "http":
      return proberOfHttp(probe);
    case "grpc":
      return proberOfGrpc(probe);
    case "connect":
      return proberOfConnect(probe);
    case "file":
      return proberOfFile(probe);
  }
}

function proberOfFile({ path, isNotEmpty }: Extract<Probe, { kind: "file" }>): Prober {
  return {
    attempt(done) {
      const reason = whyNotReady(path, isNotEmpty === true);
      done(reason === undefined ? ready : notReady(reason));
      return nothing;
    },
    isDeciding: () => false,
    [Symbol.dispose]: nothing,
  };
}

function proberOfHttp(probe: Extract<Probe, { kind: "http" }>): Prober {
  const { target, headers = [] } = probe;
  const counts = { opening: 0, held: 0 };
  const client = clientFor(probe, counts);
  const request = { method: "GET", target, headers };
  const send: Send<HttpAnswer> = (done) => client.send(request, done);
  return {
    attempt: attemptsAt(target.address, { counts, send, judge: chooseJudge(probe) }),
    isDeciding: () => false,
    [Symbol.dispose]: () => client[Symbol.dispose](),
  };
}

/** Creates an HTTP client with the answer limit of this probe, which keeps `counts` up to date. */
export function clientFor(probe: Probe, counts?: ConnectionCounts): HttpClient {
  const maxAnswer = probe.kind === "http" ? maxAnswerOf(probe.target) : undefined;
  return createHttpClient({ maxAnswer, counts });
}

/** Its client is loaded here, because few need it. */
function proberOfGrpc(probe: GrpcProbe): Prober {
  const counts = { opening: 0, held: 0 };
  let client: HealthClient | undefined;
  let isLoading = false;
  const load = async (): Promise<void> => {
    isLoading = true;
    client = (await import("./grpc.ts")).createHealthClient(probe, counts);
    isLoading = false;
  };
  const send: Send<Verdict> = (done) => client?.check(done) ?? startAfter(load(), () => send(done));
  return {
    attempt: attemptsAt(probe.target.address, { counts, send, judge: (verdict) => verdict }),
    isDeciding: () => isLoading,
    [Symbol.dispose]: () => client?.[Symbol.dispose](),
  };
}

function proberOfConnect({ address, staysOpenMs: forMs = 0 }: Extract<Probe, { kind: "connect" }>): Prober {
  const counts = { opening: 0, held: 0 };
  const send: Send<undefined> = (done) => holdConnection(address, { forMs, counts }, done);
  return {
    attempt: attemptsAt(address, { counts, send, judge: () => ready }),
    isDeciding: () => counts.held > 0,
    [Symbol.dispose]: nothing,
  };
}

/** Sends what an attempt sends. */
type Send<T> = (done: Done<T>) => Cancel;

interface AttemptOptions<T> {
  readonly counts: ConnectionCounts;
  readonly send: Send<T>;
  readonly judge: (outcome: T) => Verdict;
}

/**
 * Creates a function that makes an attempt at an address. A TCP check comes first after a refusal, and while a connection
 * is neither open nor refused: it is cheap, and more connections, which Bun cannot end, would tell no more.
 */
function attemptsAt<T>(address: Address, { counts, send, judge }: AttemptOptions<T>): Prober["attempt"] {
  const check = tcpCheckAt(address);
  let wasRefused = false;
  return (done) => {
    const obstacle = wasRefused || counts.opening > 0 ? obstacleAt(check, counts) : undefined;
    if (obstacle !== undefined) {
      done(obstacle);
      return nothing;
    }
    return send((outcome) => {
      wasRefused = outcome instanceof RequestFailed && outcome.message === REFUSED;
      done(outcome instanceof RequestFailed ? notReady(outcome.message) : judge(outcome));
    });
  };
}

/**
 * Returns why an attempt would not be answered, if that is certain: the port refuses or accepts nothing, or, off loopback
 * where the check tells nothing, `MAX_IN_FLIGHT` connections are already being opened.
 */
function obstacleAt(check: ReturnType<typeof tcpCheckAt>, { opening }: ConnectionCounts): Verdict | undefined {
  const state = check?.();
  if (state === "refused") return refused;
  if (state === "silent") return silent;
  return opening >= MAX_IN_FLIGHT ? unanswered : undefined;
}

/** Creates a prober that asks all of `probers`. */
function proberOfAny(probers: readonly Prober[]): Prober {
  return {
    attempt: (done) => attemptAny(probers, done),
    isDeciding: () => probers.some((prober) => prober.isDeciding()),
    [Symbol.dispose]() {
      for (const prober of probers) prober[Symbol.dispose]();
    },
  };
}

/** Makes an attempt of each: ready as soon as one is, else not ready for the reasons of all, in their order. */
function attemptAny(probers: readonly Prober[], done: OnVerdict): Cancel {
  const reasons: string[] = [];
  // without those that have answered, which must not be cancelled: their connections are kept
  const cancels = new Map<Prober, Cancel>();
  const cancelAll = (): void => {
    for (const cancel of cancels.values()) cancel();
    cancels.clear();
  };
  for (const prober of probers) cancels.set(prober, nothing);
  for (const [at, prober] of probers.entries()) {
    if (!cancels.has(prober)) return nothing; // another one was ready at once
    const cancel = prober.attempt((verdict) => {
      cancels.delete(prober);
      if (verdict.ready) cancelAll();
      else reasons[at] = verdict.reason;
      if (cancels.size === 0) done(verdict.ready ? verdict : notReady([...new Set(reasons)].join(", ")));
    });
    if (cancels.has(prober)) cancels.set(prober, cancel);
  }
  return cancelAll;
}

/** For so long, in ms, a look-up may take before other attempts tell that there is no address yet. */
const LOOK_UP_MS = 249;

/** Creates a prober that asks at the addresses of a name, and is ready as soon as it is at one of them. */
function proberOfName(name: string, proberAt: (ip: string) => Prober): Prober {
  const watch = watchName(name);
  const addresses = createAddressProbers(proberAt);
  let isFirst = true;
  let quietUntil = 0;
  const askNext = (done: OnVerdict): Cancel => {
    const group = addresses.nextGroup(watch.ips());
    if (group !== undefined) return group.attempt(done);
    done(notReady(watch.reason()));
    return nothing;
  };
  return {
    attempt(done) {
      const lookUp = watch.lookUpIfDue() ?? (isFirst ? watch.underWay() : undefined);
      isFirst = false;
      if (lookUp === undefined || watch.ips().length > 0) return askNext(done);
      quietUntil = performance.now() + LOOK_UP_MS;
      const lookedUp = lookUp.then(() => {
        quietUntil = 0;
      });
      return startAfter(lookedUp, () => askNext(done));
    },
    isDeciding: () => performance.now() < quietUntil || addresses.areDeciding(),
    [Symbol.dispose]: addresses.dispose,
  };
}

/** Starts an attempt when `event` resolves, unless that is cancelled before. */
function startAfter(event: Promise<void>, start: () => Cancel): Cancel {
  let cancel: Cancel | undefined = nothing;
  void event.then(() => {
    if (cancel !== undefined) cancel = start();
  });
  return () => {
    cancel?.();
    cancel = undefined;
  };
}

/** The most addresses of a name that are asked in one attempt; the next attempt asks the next ones. */
const MOST_ADDRESSES = 4;

function createAddressProbers(proberAt: (ip: string) => Prober) {
  // an address keeps its prober, which counts the connections that hang, while the DNS moves and leaves out addresses
  const probers = new Map<string, Prober>();
  let ips: readonly string[] = [];
  let groups: readonly Prober[] = [];
  let attempts = 0;
  return {
    /** Returns a prober of the addresses whose turn it is among those that the DNS has now; undefined if it has none. */
    nextGroup(found: readonly string[]): Prober | undefined {
      if (found !== ips) {
        for (const [ip, prober] of probers) if (!found.includes(ip)) prober[Symbol.dispose]();
        for (const ip of found) if (!probers.has(ip)) probers.set(ip, proberAt(ip));
        ips = found;
        groups = groupsOf(found.map((ip) => probers.get(ip) as Prober));
      }
      return groups[attempts++ % groups.length];
    },
    areDeciding: () => groups.some((group) => group.isDeciding()),
    dispose() {
      for (const prober of probers.values()) prober[Symbol.dispose]();
    },
  };
}

function groupsOf(probers: readonly Prober[]): readonly Prober[] {
  const groups: Prober[] = [];
  for (let at = 0; at < probers.length; at += MOST_ADDRESSES)
    groups.push(proberOfAny(probers.slice(at, at + MOST_ADDRESSES)));
  return groups;
}

const ready: Verdict = { ready: true };
const refused = notReady(REFUSED);
const silent = notReady("a process listens there, but accepts no connection");
const unanswered = notReady("no answer");

function notReady(reason: string): Verdict {
  return { ready: false, reason };
}

function nothing(): void {
  // there is nothing to cancel
}
