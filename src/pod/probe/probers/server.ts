import type { Address } from "../../../shared/core/address.ts";
import { type Cancel, type ConnectionCounts, type Done, holdConnection } from "../../../shared/http/connection.ts";
import { REFUSED, RequestFailed } from "../../../shared/http/request-failed.ts";
import { type TcpState, tcpCheckAt } from "../../../shared/http/tcp-check.ts";
import { chooseJudge, maxAnswerOf, type Probe, type ProbeVerdict } from "../../../shared/sidecars/core/probe.ts";
import { createHttpClient, type HttpClient } from "../../http/http.ts";
import type { GrpcProbe, HealthClient } from "../grpc.ts";
import { cancelNothing, notReady, type Prober, ready, startAfter } from "../prober.ts";

/** The most attempts of one probe that are under way at the same time. */
export const MAX_IN_FLIGHT = 8;

/** Sends what an attempt sends, and judges the answer. */
interface Asker extends Pick<Prober, "isDeciding" | "end"> {
  ask(done: Done<ProbeVerdict>): Cancel;
}

/**
 * Creates a prober of the server at an address. A TCP check comes first after a refusal, and while a connection is
 * neither open nor refused: it is cheap, and more connections, which Bun cannot end, would tell no more.
 */
export function proberAt(address: Address, askerOf: (counts: ConnectionCounts) => Asker): Prober {
  const check = tcpCheckAt(address);
  const counts = { opening: 0, held: 0 };
  const { ask, ...others } = askerOf(counts);
  let wasRefused = false;
  return {
    ...others,
    attempt(done) {
      const obstacle = wasRefused || counts.opening > 0 ? obstacleAt(check, counts) : undefined;
      if (obstacle !== undefined) {
        done(obstacle);
        return cancelNothing;
      }
      return ask((outcome) => {
        wasRefused = outcome instanceof RequestFailed && outcome.message === REFUSED;
        done(outcome instanceof RequestFailed ? notReady(outcome.message) : outcome);
      });
    },
  };
}

const obstacles: Readonly<Partial<Record<TcpState, ProbeVerdict>>> = {
  refused: notReady(REFUSED),
  silent: notReady("a process listens there, but accepts no connection"),
};
const unanswered = notReady("no answer");

/**
 * Returns why an attempt would not be answered, if that is certain: the port refuses or accepts nothing, or, off loopback
 * where the check tells nothing, `MAX_IN_FLIGHT` connections are already being opened.
 */
function obstacleAt(check: ReturnType<typeof tcpCheckAt>, { opening }: ConnectionCounts): ProbeVerdict | undefined {
  return obstacles[check?.() ?? "open"] ?? (opening >= MAX_IN_FLIGHT ? unanswered : undefined);
}

export function askHttp(probe: Extract<Probe, { kind: "http" }>, counts: ConnectionCounts): Asker {
  const { target, headers = [] } = probe;
  const client = clientFor(probe, counts);
  const request = { method: "GET", target, headers };
  const judge = chooseJudge(probe);
  return {
    ask: (done) => client.send(request, (answer) => done(answer instanceof RequestFailed ? answer : judge(answer))),
    end: () => client[Symbol.dispose](),
  };
}

/** Creates an HTTP client with the answer limit of this probe, which keeps `counts` up to date. */
export function clientFor({ target }: Extract<Probe, { kind: "http" }>, counts?: ConnectionCounts): HttpClient {
  return createHttpClient({ maxAnswer: maxAnswerOf(target), counts });
}

/** Its client is loaded here, because few need it. */
export function askGrpc(probe: GrpcProbe, counts: ConnectionCounts): Asker {
  let client: HealthClient | undefined;
  let isLoading = false;
  const load = async (): Promise<void> => {
    isLoading = true;
    client = (await import("../grpc.ts")).createHealthClient(probe, counts);
    isLoading = false;
  };
  const ask: Asker["ask"] = (done) => client?.check(done) ?? startAfter(load(), () => ask(done));
  return { ask, isDeciding: () => isLoading, end: () => client?.[Symbol.dispose]() };
}

type ConnectProbe = Extract<Probe, { kind: "connect" }>;

export function askForConnection({ address, staysOpenMs = 0 }: ConnectProbe, counts: ConnectionCounts): Asker {
  const hold = { forMs: staysOpenMs, counts };
  return {
    ask: (done) => holdConnection(address, hold, (failure) => done(failure ?? ready)),
    isDeciding: () => counts.held > 0,
  };
}
