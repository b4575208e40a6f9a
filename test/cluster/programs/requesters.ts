// Ways in which a client sends requests to server.ts, without retries: HTTP/1.1, HTTP/2, gRPC streams.
import { once } from "node:events";
import { type ClientHttp2Session, type ClientHttp2Stream, connect as connectHttp2, constants } from "node:http2";
import { connect, type Socket } from "node:net";

/** What one client sends by. */
export interface Requester {
  /** Sends a request that takes so long, and resolves with the pod that answered. Rejects with Lost. */
  ask(ms: number): Promise<string>;
  /** Returns the pod that last answered on the connection of the last request; "" if none has. */
  pod(): string;
  close(): void;
}

/** Why a request is lost. */
export class Lost extends Error {
  /** In a few words: `connection refused`. The message has the details. */
  readonly by: string;

  constructor(by: string, message: string) {
    super(message);
    this.by = by;
  }
}

/** The time for a connection, and for an answer beyond what its request takes. */
const PATIENCE_MS = 30_000;

/** Returns a client of HTTP/1.1, which keeps its connection or opens one for each request. */
export function http1(host: string, port: string, keeps: boolean): Requester {
  let socket: Socket | undefined;
  let pod = "";
  return {
    pod: () => pod,
    async ask(ms) {
      try {
        if (socket?.readyState !== "open") {
          pod = "";
          socket = await open(host, port);
        }
        const { status, body, closes } = await exchange(socket, host, ms);
        if (status !== 200) throw new Lost(`HTTP ${status}`, body);
        pod = body;
        if (closes || !keeps) socket.destroy();
        return body;
      } catch (error) {
        socket?.destroy();
        throw error;
      }
    },
    close: () => void socket?.destroy(),
  };
}

async function open(host: string, port: string): Promise<Socket> {
  const socket = connect(Number(port), host);
  socket.on("error", () => undefined); // the request has it, too; an idle connection may end
  let by = "no connection";
  const patience = setTimeout(() => {
    by = "timed out";
    socket.destroy(new Error("no connection in time"));
  }, PATIENCE_MS);
  await once(socket, "connect")
    .catch((error) => {
      throw new Lost(error.code === "ECONNREFUSED" ? "connection refused" : by, `${error}`);
    })
    .finally(() => clearTimeout(patience));
  return socket;
}

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly closes: boolean;
}

async function exchange(socket: Socket, host: string, ms: number): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  let text = "";
  const onData = (bytes: Buffer): void => {
    text += bytes.toString("latin1");
    const answer = parse(text);
    if (answer !== undefined) resolve(answer);
  };
  const fail = (by: string, detail: unknown): void => reject(new Lost(by, `${detail}, after ${text.length} bytes`));
  const onEnd = (error?: unknown): void => fail(endedBy(text !== ""), error || "closed");
  const patience = setTimeout(() => fail("timed out", "no answer in time"), ms + PATIENCE_MS);
  socket.on("data", onData).on("end", onEnd).on("error", onEnd).on("close", onEnd);
  socket.write(`GET /?ms=${ms} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
  return await promise.finally(() => {
    clearTimeout(patience);
    socket.off("data", onData).off("end", onEnd).off("error", onEnd).off("close", onEnd);
  });
}

function endedBy(hasBegun: boolean): string {
  return hasBegun ? "answer cut" : "closed before an answer";
}

/** Parses an answer; undefined if it is not complete. The app and Envoy both send a content-length. */
function parse(text: string): Answer | undefined {
  const [, head = "", body = ""] = /^(.*?\r\n\r\n)(.*)$/s.exec(text) ?? [];
  const length = /^content-length: (\d+)/im.exec(head)?.[1];
  if (length === undefined || body.length < Number(length)) return undefined;
  return { status: Number(head.split(" ")[1]), body, closes: /^connection: close/im.test(head) };
}

/** An HTTP/2 connection. */
interface Connection {
  readonly session: ClientHttp2Session;
  /** The pod that last answered; "" if none has. */
  pod: string;
  /** The GOAWAY that came last, after which the connection gets no request. */
  goaway?: { readonly code: number; readonly lastStream: number };
}

/** A request of HTTP/2, and how its answer is read. */
interface Call {
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** Returns the pod in an answer; undefined if it is not complete. */
  podIn(answer: Http2Answer): string | undefined;
}

type Fields = Readonly<Record<string, unknown>>;

interface Http2Answer {
  readonly head: Fields;
  readonly trailers: Fields;
  readonly body: Buffer;
}

/** Returns what makes clients that share a connection of HTTP/2 with each other. */
export function http2(host: string, port: string): () => Requester {
  return sharing(host, port, {
    headers: { ":method": "GET" },
    podIn: ({ head, body }) => (body.length === Number(head["content-length"]) ? body.toString() : undefined),
  });
}

/** Returns what makes clients that share a connection of gRPC with each other. Each request is a call that streams. */
export function grpc(host: string, port: string): () => Requester {
  return sharing(host, port, {
    headers: { ":method": "POST", "content-type": "application/grpc", te: "trailers" },
    body: Buffer.alloc(5), // one empty message
    podIn: ({ trailers, body }) =>
      trailers["grpc-status"] === "0" ? body.subarray(5, 5 + (body[4] ?? 0)).toString() : undefined,
  });
}

function sharing(host: string, port: string, call: Call): () => Requester {
  let current: Promise<Connection> | undefined;
  const connection = (): Promise<Connection> => {
    if (current !== undefined) return current;
    const own = openHttp2(host, port, () => {
      if (current === own) current = undefined;
    });
    current = own;
    return own;
  };
  return () => {
    let last: Connection | undefined;
    return {
      pod: () => last?.pod ?? "",
      async ask(ms) {
        last = undefined;
        last = await connection();
        last.pod = await send(last, call, ms);
        return last.pod;
      },
      close: () => undefined, // others still use the connection; it ends with the process
    };
  };
}

/** Opens a connection, and calls `leave` as soon as it may get no more requests. */
async function openHttp2(host: string, port: string, leave: () => void): Promise<Connection> {
  const socket = await open(host, port).catch((error) => {
    leave();
    throw error;
  });
  const session = connectHttp2(`http://${host}:${port}`, { createConnection: () => socket });
  const connection: Connection = { session, pod: "" };
  session.on("close", leave).on("error", leave);
  session.on("goaway", (code: number, lastStream: number) => {
    connection.goaway = { code, lastStream };
    leave();
    session.close(); // once what is under way has been answered
  });
  return connection;
}

async function send(connection: Connection, { headers, body: request, podIn }: Call, ms: number): Promise<string> {
  const stream = begin(connection.session, { ...headers, ":path": `/?ms=${ms}` });
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  let [head, trailers, body, error]: [Fields, Fields, Buffer, unknown] = [{}, {}, Buffer.alloc(0), undefined];
  let isLate = false;
  const patience = setTimeout(() => {
    isLate = true;
    stream.close(constants.NGHTTP2_CANCEL);
    resolve();
  }, ms + PATIENCE_MS);
  stream.on("response", (fields) => {
    head = fields;
  });
  stream.on("trailers", (fields) => {
    trailers = fields;
  });
  stream.on("data", (piece: Buffer) => {
    body = Buffer.concat([body, piece]);
  });
  stream.on("error", (reason) => {
    error = reason;
  });
  stream.on("close", resolve).end(request);
  await closed;
  clearTimeout(patience);
  const answer = { head, trailers, body };
  const pod = head[":status"] === 200 ? podIn(answer) : undefined;
  if (pod !== undefined) return pod;
  const { id = 0, rstCode = 0 } = stream;
  const { goaway } = connection;
  const detail = JSON.stringify({ id, rstCode, goaway, ...answer, body: body.toString(), error: `${error}` });
  throw new Lost(isLate ? "timed out" : reasonOf(answer, id, rstCode, goaway), detail);
}

function begin(session: ClientHttp2Session, headers: Fields): ClientHttp2Stream {
  try {
    return session.request(headers as Record<string, string>);
  } catch (error) {
    throw new Lost(endedBy(false), `${error}`);
  }
}

/** Says what lost a request. The server has not begun a stream above the last one that its GOAWAY names. */
function reasonOf({ head, trailers }: Http2Answer, id: number, rstCode: number, goaway: Connection["goaway"]): string {
  const status = head[":status"];
  const grpcStatus = trailers["grpc-status"] ?? head["grpc-status"];
  if (status !== undefined && status !== 200) return `HTTP ${status}`;
  if (grpcStatus !== undefined) return `grpc-status ${grpcStatus}`;
  if (goaway !== undefined && id > goaway.lastStream) return "GOAWAY, safe to retry";
  // Bun's code for a stream whose connection has ended is CANCEL, which no server sends
  if (rstCode !== 0 && rstCode !== constants.NGHTTP2_CANCEL) return `RST_STREAM ${rstCode}`;
  return endedBy(status !== undefined);
}
