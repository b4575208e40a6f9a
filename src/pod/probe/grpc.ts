import { type ClientHttp2Session, connect as connectHttp2, type IncomingHttpHeaders } from "node:http2";
import { connect as connectTcp, type Socket } from "node:net";
import { Duplex } from "node:stream";
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
import { RequestFailed, tooLong } from "../../shared/http/request-failed.ts";
import { tcpCheck } from "../../shared/http/tcp-check.ts";
import { trustOptions } from "../../shared/http/trust.ts";
import type { Probe, Verdict } from "../../shared/sidecars/core/probe.ts";
import { DEFAULT_MAX_ANSWER } from "../http/http.ts";
import { CHECK_PATH, encodeCheck, type GrpcAnswer, judgeHealth } from "./core/grpc-health.ts";

// By node:http2, loaded for gRPC targets alone. What servers may do to it: test/attacks/sidecars/hostile-grpc.test.ts.

export type GrpcProbe = Extract<Probe, { kind: "grpc" }>;

/** Asks the health service of one server, once or several times at once, and keeps one idle connection for the next. */
export interface HealthClient extends Disposable {
  /** Calls `done` once, with the verdict or the reason why there is no answer; not after the returned Cancel. */
  check(done: Done<Verdict>): Cancel;
}

/** Creates a client without time limits, which keeps `counts` up to date. */
export function createHealthClient(probe: GrpcProbe, counts: ConnectionCounts): HealthClient {
  let idle: Connection | undefined;
  const connect = (): Connection => {
    const connection = open(probe, counts);
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

interface Connection {
  readonly session: ClientHttp2Session;
  /** Lets it receive so many bytes more as an answer may have. */
  allowAnswer(): void;
  /** Closes it at once. */
  end(): void;
}

function open({ target }: GrpcProbe, counts: ConnectionCounts): Connection {
  const { socket, allowAnswer } = bounded(connectSocket(target, counts));
  const settings = { enablePush: false };
  const session = connectHttp2(`http://${target.authority}`, { settings, createConnection: () => socket });
  session.once("goaway", () => session.close());
  session.on("error", ignore); // a request that is under way hears of it, too
  const end = (): void => {
    session.destroy();
    socket.destroy(); // Bun would wait for the server to close it
  };
  return { session, allowAnswer, end };
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

/**
 * Returns a socket as one that fails when more bytes come than an answer may have: frames that nobody asked for would cost
 * a processor, and ebb its timers.
 */
function bounded(socket: Socket): { readonly socket: Duplex } & Pick<Connection, "allowAnswer"> {
  let left = 0;
  const outer = new Duplex({
    read: ignore,
    write(piece, _, done) {
      socket.write(piece, (error) => {
        if (!error) done(); // else the socket's own error says why
      });
    },
    final: (done) => void socket.end(done),
    destroy(error, done) {
      socket.destroy();
      done(error);
    },
  });
  socket.on("data", (piece: Buffer) => {
    left -= piece.length;
    if (left < 0) outer.destroy(new RequestFailed("broken", tooLong(DEFAULT_MAX_ANSWER)));
    else outer.push(piece);
  });
  socket.on("end", () => void outer.push(null));
  socket.on("error", (error) => void outer.destroy(error));
  socket.on("close", () => void outer.destroy());
  const allowAnswer = (): void => {
    left = DEFAULT_MAX_ANSWER;
  };
  return { socket: outer, allowAnswer };
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

function ask({ session, allowAnswer, end: close }: Connection, probe: GrpcProbe, done: Done<Verdict>): Cancel {
  const { target, service, headers = [] } = probe;
  let isOver = false;
  const end = (outcome: Verdict | RequestFailed): void => {
    if (!isOver) done(outcome);
    isOver = true;
  };
  const fail = (error: unknown): void => end(error instanceof RequestFailed ? error : connectFailure(error));
  session.once("error", fail);
  allowAnswer();
  const given = headers.map(([name, value]) => [name.toLowerCase(), value] as const);
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
      session.off("error", fail);
      const answer = answerOf(head, trailers, body);
      const { rstCode = 0 } = stream;
      if (answer.grpcStatus !== undefined || (rstCode === 0 && answer.status !== 0))
        return end(judgeHealth(answer, service));
      const isClosed = rstCode === 0 || session.closed || session.destroyed;
      const reason = isClosed ? errorTexts.ECONNRESET : `it refuses the request: HTTP/2 error ${rstCode}`;
      end(new RequestFailed("broken", reason));
    });
    stream.end(encodeCheck(service));
  } catch (error) {
    fail(error); // the idle connection has just been closed
  }
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
