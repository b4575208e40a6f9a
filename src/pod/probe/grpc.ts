import { type ClientHttp2Session, connect as connectHttp2, type IncomingHttpHeaders } from "node:http2";
import { connect as connectTcp, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { hostsToDial, isIp } from "../../shared/core/address.ts";
import { errorTexts } from "../../shared/core/system-error.ts";
import {
  type Cancel,
  type ConnectionCounts,
  connectFailure,
  type Done,
  type TcpAddress,
} from "../../shared/http/connection.ts";
import { RequestFailed } from "../../shared/http/request-failed.ts";
import { tcpCheck } from "../../shared/http/tcp-check.ts";
import { trustOptions } from "../../shared/http/trust.ts";
import type { Probe, ProbeVerdict } from "../../shared/sidecars/core/probe.ts";
import { type BoundedSocket, bounded } from "./bounded-socket.ts";
import {
  CHECK_PATH,
  CLOSED_AT_ONCE,
  encodeCheck,
  type GrpcAnswer,
  judgeHealth,
  whyNotHttp2,
} from "./core/grpc-health.ts";

// By node:http2, loaded for gRPC targets alone. What servers may do to it: test/attacks/sidecars/hostile-grpc.test.ts.

export type GrpcProbe = Extract<Probe, { kind: "grpc" }>;

/** Asks the health service of one server, once or several times at once, and keeps one idle connection for the next. */
export interface HealthClient extends Disposable {
  /** Calls `done` once, with the verdict or the reason why there is no answer; not after the returned Cancel. */
  check(done: Done<ProbeVerdict>): Cancel;
}

/** Creates a client without time limits, which keeps `counts` up to date. */
export function createHealthClient(probe: GrpcProbe, counts: ConnectionCounts): HealthClient {
  let idle: Connection | undefined;
  const server: Server = {};
  const connect = (): Connection => {
    const connection = open(probe, counts, server);
    const forget = (): void => {
      if (idle === connection) idle = undefined;
    };
    connection.session.once("close", forget).once("goaway", forget);
    return connection;
  };
  return {
    check(done) {
      const connection = idle ?? connect();
      idle = undefined;
      return ask(connection, probe, (outcome) => {
        if (outcome instanceof RequestFailed || connection.session.closed || idle !== undefined) connection.end();
        else idle = connection;
        done(outcome);
      });
    },
    [Symbol.dispose]() {
      idle?.end();
      idle = undefined;
    },
  };
}

/** What is known of the server from all connections. */
interface Server {
  /**
   * What it speaks in place of HTTP/2, as a reason; undefined if it has said nothing else. A connection that it closes
   * early may break before its answer is read, which is no other reason.
   */
  speaks?: string | undefined;
}

interface Connection extends Pick<BoundedSocket, "allowAnswer"> {
  readonly session: ClientHttp2Session;
  /** Calls `start` once the server has begun to speak HTTP/2: any other would get a request that it cannot read. */
  whenSpoken(start: () => void): void;
  /** Returns why it was closed. */
  whyClosed(): string;
  /** Closes it at once. */
  end(): void;
}

function open({ target }: GrpcProbe, counts: ConnectionCounts, server: Server): Connection {
  let isSpoken = false;
  let start = ignore;
  const hear = (first: Buffer): RequestFailed | undefined => {
    server.speaks = whyNotHttp2(first);
    if (server.speaks !== undefined) return new RequestFailed("broken", server.speaks);
    isSpoken = true;
    start();
    return undefined;
  };
  const { socket, allowAnswer } = bounded(connectSocket(target, counts), hear);
  const settings = { enablePush: false };
  const session = connectHttp2(`http://${target.authority}`, { settings, createConnection: () => socket });
  session.once("goaway", () => session.close());
  session.on("error", ignore); // a request that is under way hears of it, too
  const end = (): void => {
    session.destroy();
    socket.destroy(); // Bun would wait for the server to close it
  };
  const whenSpoken = (call: () => void): void => {
    if (isSpoken) call();
    else start = call;
  };
  const whyClosed = () => (isSpoken ? errorTexts.ECONNRESET : (server.speaks ?? CLOSED_AT_ONCE));
  return { session, whenSpoken, whyClosed, allowAnswer, end };
}

function connectSocket({ address, isSecure }: GrpcProbe["target"], counts: ConnectionCounts): Socket {
  const { host, port } = address as TcpAddress;
  const where = { host: ipOf(address as TcpAddress), port };
  // the certificate must be the host's all the same
  const named = isIp(host) ? {} : { servername: host };
  const socket = isSecure
    ? connectTls({ ...where, ...named, ...trustOptions(), ALPNProtocols: ["h2"] })
    : connectTcp(where);
  let isOpening = true;
  const opened = (): void => {
    if (isOpening) counts.opening -= 1;
    isOpening = false;
  };
  counts.opening += 1;
  return socket.once("connect", opened).once("close", opened);
}

function ignore(): void {
  // nothing follows from it
}

/** Returns the address to connect to: of the two loopbacks that accepts, if one does. */
function ipOf(address: TcpAddress): string {
  const [first = address.host, ...others] = hostsToDial(address);
  if (others.length === 0 || tcpCheck(first, address.port) === "open") return first;
  return others.find((ip) => tcpCheck(ip, address.port) === "open") ?? first;
}

function ask(connection: Connection, probe: GrpcProbe, done: Done<ProbeVerdict>): Cancel {
  const { session, allowAnswer, end: close } = connection;
  const { target, service, headers = [] } = probe;
  let isOver = false;
  const end = (outcome: ProbeVerdict | RequestFailed): void => {
    if (!isOver) done(outcome);
    isOver = true;
  };
  const closed = (): void => end(new RequestFailed("broken", connection.whyClosed()));
  const fail = (error: unknown): void => {
    const failure = error instanceof RequestFailed ? error : connectFailure(error);
    if (failure.message === errorTexts.ECONNRESET) closed();
    else end(failure);
  };
  session.once("error", fail);
  session.once("close", closed);
  allowAnswer();
  const given = headers.map(([name, value]) => [name.toLowerCase(), value] as const);
  const send = (): void => {
    try {
      const stream = session.request({
        ...{ ":method": "POST", ":scheme": target.isSecure ? "https" : "http", ":path": CHECK_PATH },
        ...{ ":authority": target.authority, te: "trailers", "content-type": "application/grpc", "user-agent": "ebb" },
        ...Object.fromEntries(given),
      });
      let [head, trailers, body]: [IncomingHttpHeaders, IncomingHttpHeaders, Buffer] = [{}, {}, Buffer.alloc(0)];
      stream.on("error", fail);
      stream.on("response", (received) => {
        head = received;
      });
      stream.on("trailers", (received) => {
        trailers = received;
      });
      stream.on("data", (piece: Buffer) => {
        body = Buffer.concat([body, piece]);
      });
      stream.on("close", () => {
        session.off("error", fail).off("close", closed);
        const answer = answerOf(head, trailers, body);
        const { rstCode = 0 } = stream;
        if (answer.grpcStatus !== undefined || (rstCode === 0 && answer.status !== 0))
          return end(judgeHealth(answer, service));
        if (rstCode === 0 || session.closed || session.destroyed) return closed();
        end(new RequestFailed("broken", `it refuses the request: HTTP/2 error ${rstCode}`));
      });
      stream.end(encodeCheck(service));
    } catch (error) {
      fail(error); // the idle connection has just been closed
    }
  };
  connection.whenSpoken(send);
  return () => {
    isOver = true;
    close();
  };
}

function answerOf(head: IncomingHttpHeaders, trailers: IncomingHttpHeaders, body: Uint8Array): GrpcAnswer {
  const last = trailers["grpc-status"] === undefined ? head : trailers;
  return {
    status: Number(head[":status"] ?? 0),
    contentType: head["content-type"] ?? "",
    grpcStatus: textOf(last["grpc-status"]),
    grpcMessage: textOf(last["grpc-message"]) ?? "",
    body,
  };
}

function textOf(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join() : value;
}
