// How a client sends requests to serve.ts over HTTP/2, and calls by gRPC.
import { type ClientHttp2Session, type ClientHttp2Stream, connect as connectHttp2, constants } from "node:http2";
import { endedBy, Lost, open, PATIENCE_MS, type Requester } from "./requesters.ts";

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
  return sharing(host, port, grpcCall);
}

const grpcCall: Call = {
  headers: { ":method": "POST", "content-type": "application/grpc", te: "trailers" },
  body: Buffer.alloc(5), // one empty message
  podIn: ({ trailers, body }) =>
    trailers["grpc-status"] === "0" ? body.subarray(5, 5 + (body[4] ?? 0)).toString() : undefined,
};

const ENDLESS_MS = 600_000;

/**
 * Returns a client that reads a stream of gRPC until the server ends it, and calls once more: on the same connection, unless
 * a GOAWAY has come by then.
 */
export function subscriber(host: string, port: string): Requester {
  let connection: Connection | undefined;
  let hasLeft = false;
  return {
    pod: () => connection?.pod ?? "",
    async ask(ms) {
      connection = await openHttp2(host, port, () => undefined);
      try {
        if (hasLeft) return "";
        if (ms === 0) return await send(connection, grpcCall, 0);
        connection.pod = await send(connection, grpcCall, ENDLESS_MS);
        if (connection.goaway !== undefined) connection = await openHttp2(host, port, () => undefined);
        return await send(connection, grpcCall, 0);
      } catch (error) {
        if (hasLeft) return "";
        throw error;
      } finally {
        connection.session.destroy();
      }
    },
    close: () => undefined,
    leave() {
      hasLeft = true;
      connection?.session.destroy();
    },
  };
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
