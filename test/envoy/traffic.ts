import { connect as connectHttp2 } from "node:http2";
import { connect, createServer, type Socket } from "node:net";
import { parseAnswer } from "../../src/shared/http/core/http-message.ts";
import { until } from "../harness/ebb.ts";
import { listen } from "../harness/free-port.ts";
import { type Envoy, startEnvoy } from "./envoy.ts";

/**
 * The server behind the proxy. It answers `/hold/...`, and ends `/stream/...`, only once released; ends `/fill?ADMIN`
 * once the Envoy with that admin interface has 256 KiB of the answer that its client does not take; all else at once.
 */
export interface Backend extends AsyncDisposable {
  /** The port for HTTP and WebSockets. */
  readonly port: number;
  /** The port at which each byte is sent back. */
  readonly tcpPort: number;
  /** The path of each request that came. */
  readonly requests: readonly string[];
  release(): void;
}

/** Starts a backend on ports of 127.0.0.1. */
export async function startBackend(): Promise<Backend> {
  const requests: string[] = [];
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const http = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(request, server) {
      const { pathname, search } = new URL(request.url);
      requests.push(pathname);
      if (pathname.startsWith("/socket") && server.upgrade(request, { data: undefined })) return undefined;
      if (pathname.startsWith("/stream")) return new Response(halfOf(pathname, released));
      if (pathname === "/fill") return new Response(untilUnsent(search.slice(1)));
      if (pathname.startsWith("/hold")) await released;
      return new Response(pathname);
    },
    websocket: { message: (socket, message) => void socket.send(message) },
  });
  const echo = createServer((socket) => socket.on("error", () => undefined).pipe(socket));
  const tcpPort = await listen(echo);
  return {
    port: http.port as number,
    tcpPort,
    requests,
    release,
    async [Symbol.asyncDispose]() {
      release();
      echo.close();
      await http.stop(true);
    },
  };
}

/** Yields the first three characters of a text now, and the rest when it is released. */
async function* halfOf(text: string, released: Promise<void>): AsyncGenerator<string> {
  yield text.slice(0, 3);
  await released;
  yield text.slice(3);
}

async function* untilUnsent(admin: string): AsyncGenerator<string> {
  // fewer bytes than those at which Envoy would stop to read the answer (per_connection_buffer_limit_bytes: 1 MiB)
  while ((await statisticOf(admin, "http.http.downstream_cx_tx_bytes_buffered")) < 256 * 1024)
    yield "x".repeat(32 * 1024);
}

/** Resolves with a number of Envoy's /stats. */
async function statisticOf(admin: string, name: string): Promise<number> {
  const answer = await fetch(`${admin}/stats?filter=^${name}$`);
  return Number((await answer.text()).split(": ")[1]);
}

/** Starts an Envoy with two listeners: `http` to the backend, `raw` to its echo. */
export function startProxy({ port, tcpPort }: Backend): Promise<Envoy> {
  return startEnvoy({ upstreamPort: port, listeners: [{ name: "http" }, { name: "raw", tcpPort }] });
}

/** A request or a connection in flight, held open. */
export interface InFlight {
  /** Ends it as it should end. Resolves, at its end, with all that was received. */
  finish(): Promise<string>;
  /** Breaks it off. */
  drop(): void;
}

/** The way of a request: a proxy's port, and the backend behind the proxy. */
export interface Way {
  readonly port: number;
  readonly backend: Backend;
}

/**
 * Sends a request by HTTP/1.1 that is not answered, or not to its end: `/hold/...`, `/stream/...`. Resolves on its
 * arrival.
 */
export async function holdRequest({ port, backend }: Way, path: string): Promise<InFlight> {
  const connection = await open(port);
  const answer = send(connection, path);
  answer.catch(() => undefined); // finish() rejects with it
  await until(`${path} arrives`, () => backend.requests.includes(path));
  return {
    async finish() {
      backend.release();
      const { status, body } = await answer;
      connection.socket.destroy();
      return `${status} ${body}`;
    },
    drop: () => connection.socket.destroy(),
  };
}

/**
 * Sends a request, and reads nothing before `finish`. Resolves once the end of the answer is in Envoy's write buffer: the
 * request is in flight no more.
 */
export async function holdUnread({ port }: Pick<Way, "port">, { admin }: Envoy): Promise<InFlight> {
  const connection = await open(port);
  connection.socket.pause();
  const answer = send(connection, `/fill?${admin}`);
  answer.catch(() => undefined); // finish() rejects with it
  await until(
    "the client has yet to take bytes",
    async () => (await statisticOf(admin, "http.http.downstream_cx_tx_bytes_buffered")) > 0,
  );
  await until(
    "no request is in flight",
    async () => (await statisticOf(admin, "http.http.downstream_rq_active")) === 0,
  );
  return {
    async finish() {
      connection.socket.resume();
      const { status, body } = await answer;
      connection.socket.destroy();
      return `${status} ${body.replaceAll("x", "")}`;
    },
    drop: () => connection.socket.destroy(),
  };
}

/** Sends such a request by HTTP/2, with prior knowledge. Resolves on its arrival. */
export async function holdHttp2({ port, backend }: Way, path: string): Promise<InFlight> {
  const caller = await callByHttp2(port);
  const answer = caller.call(path);
  answer.catch(() => undefined); // finish() rejects with it
  await until(`${path} arrives`, () => backend.requests.includes(path));
  return {
    async finish() {
      backend.release();
      const { status, body } = await answer;
      caller.close();
      return `${status} ${body}`;
    },
    drop: caller.close,
  };
}

/** Opens a WebSocket. Resolves once a message has come back through it; `finish` sends another, and then closes it. */
export async function holdWebSocket({ port }: Way, path: string): Promise<InFlight> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`);
  const received: string[] = [];
  socket.onmessage = ({ data }) => received.push(String(data));
  await new Promise((opened, failed) => {
    socket.onopen = opened;
    socket.onerror = failed;
  });
  const echo = async (text: string): Promise<void> => {
    socket.send(text);
    await until(`${text} comes back`, () => received.at(-1) === text);
  };
  await echo("hello");
  return {
    async finish() {
      await echo("bye");
      const closed = new Promise((close) => {
        socket.onclose = close;
      });
      socket.close();
      await closed;
      return received.join(" ");
    },
    drop: () => socket.close(),
  };
}

/** Opens a TCP connection. Resolves once bytes have come back through it; `finish` sends others, and then closes it. */
export async function holdTcp({ port }: Way): Promise<InFlight> {
  const { socket, received } = await open(port);
  const echo = async (text: string): Promise<void> => {
    socket.write(text);
    await until(`${text} comes back`, () => received().endsWith(text));
  };
  await echo("hello");
  return {
    async finish() {
      await echo(" bye");
      socket.destroy();
      return received();
    },
    drop: () => socket.destroy(),
  };
}

/** Opens a keep-alive connection. Resolves once its request is answered: from then on it is idle. */
export async function holdIdle({ port }: Way): Promise<Connection> {
  const connection = await open(port);
  await send(connection, "/idle");
  return connection;
}

interface Answer {
  readonly status: number;
  readonly body: string;
  /** Whether the server closes the connection after it: `connection: close`, or GOAWAY before it. */
  readonly closes: boolean;
}

export interface Connection {
  readonly socket: Socket;
  /** Returns what has come so far, as Latin-1. */
  readonly received: () => string;
  readonly isClosed: () => boolean;
}

/** Opens a TCP connection. Rejects if it cannot. */
export async function open(port: number, host = "127.0.0.1"): Promise<Connection> {
  const socket = connect(port, host);
  let received = "";
  let isClosed = false;
  socket.on("data", (bytes) => {
    received += bytes.toString("latin1");
  });
  const close = () => {
    isClosed = true;
  };
  await new Promise<void>((opened, failed) => socket.once("connect", opened).once("error", failed));
  socket.on("error", close).on("end", close).on("close", close);
  return { socket, received: () => received, isClosed: () => isClosed };
}

/** Sends a GET on a connection that has no request under way. Rejects if the connection ends without an answer. */
export async function send({ socket, received, isClosed }: Connection, path: string): Promise<Answer> {
  const before = received().length;
  socket.write(`GET ${path} HTTP/1.1\r\nHost: app\r\n\r\n`);
  return await until(
    `the answer to ${path}`,
    () => {
      const isEnd = isClosed();
      const parsed = parseAnswer(received().slice(before), isEnd);
      if (parsed.kind === "garbage") throw new Error(`${path}: ${parsed.reason}`);
      if (parsed.kind === "partial") return undefined;
      const { status, body, isReusable } = parsed.answer;
      return { status, body, closes: !isReusable };
    },
    30_000,
  );
}

/** A client's connection, on which it makes calls one after the other. */
interface Caller {
  call(path: string): Promise<Answer>;
  close(): void;
}

async function callByHttp1(port: number): Promise<Caller> {
  const connection = await open(port);
  return { call: (path) => send(connection, path), close: () => void connection.socket.destroy() };
}

/** Connects by HTTP/2, with prior knowledge; after a GOAWAY its answers say that the connection closes. */
async function callByHttp2(port: number): Promise<Caller> {
  const session = connectHttp2(`http://127.0.0.1:${port}`);
  let closes = false;
  session.on("error", () => undefined); // each call's stream has it too
  session.on("goaway", () => {
    closes = true;
  });
  const call = (path: string): Promise<Answer> => {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    let [status, body] = [0, ""];
    const stream = session.request({ ":path": path });
    stream.setEncoding("utf8");
    stream.on("response", (headers) => {
      status = Number(headers[":status"]);
    });
    stream.on("data", (chunk) => {
      body += chunk;
    });
    stream.on("end", () => resolve({ status, body, closes }));
    stream.on("error", reject);
    stream.on("close", () => reject(new Error(`${path}: closed before it was answered`)));
    return promise;
  };
  return { call, close: () => session.destroy() };
}

/** Clients that call as fast as they can, each on a connection of its own; if told to close it, they open another. */
interface Load {
  /** The path of each request that was sent. */
  readonly sent: readonly string[];
  /** The path of each that was answered with 200 and its own path. */
  readonly answered: readonly string[];
  /** What became of each of the others. */
  readonly failed: readonly string[];
  /** Returns the number of answers that said that the connection closes. */
  readonly closes: () => number;
  /** Ends the opening of connections, as if the address had left the endpoints. */
  deregister(): void;
  /** Resolves once each client has been told to close its connection, or could not go on. */
  readonly done: Promise<void>;
}

/** Starts `http1` clients by HTTP/1.1, and `http2` clients by HTTP/2. */
export function startLoad(port: number, http1: number, http2 = 0): Load {
  const [sent, answered, failed]: [string[], string[], string[]] = [[], [], []];
  let isDeregistered = false;
  let closes = 0;
  const call = async (caller: Caller): Promise<boolean> => {
    const path = `/${sent.length}`;
    sent.push(path);
    const { status, body, closes: isLast } = await caller.call(path);
    if (status === 200 && body === path) answered.push(path);
    else failed.push(`${path}: ${status} ${body}`);
    if (isLast) closes += 1;
    return isLast;
  };
  const client = async (connect: (port: number) => Promise<Caller>): Promise<void> => {
    while (!isDeregistered) {
      const caller = await connect(port);
      while (!(await call(caller)));
      caller.close();
    }
  };
  const connects = [...Array(http1).fill(callByHttp1), ...Array(http2).fill(callByHttp2)];
  const work = connects.map((connect) => client(connect).catch((error) => void failed.push(String(error))));
  return {
    ...{ sent, answered, failed },
    closes: () => closes,
    deregister() {
      isDeregistered = true;
    },
    done: Promise.all(work).then(() => undefined),
  };
}
