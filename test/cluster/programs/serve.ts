// What the programs here serve, each answer with the pod's name. On `port`: HTTP/1.1, after the time that ?ms=N says; at
// /events server-sent events for that time, at /socket a WebSocket that answers each message. On `grpc` calls by gRPC, each
// with a stream for the time that ?ms=N says. On `tcp` a line for each line.
import { createServer as createHttp2, type ServerHttp2Stream } from "node:http2";
import { createServer as createTcp, type Socket } from "node:net";

interface Ports {
  readonly hostname?: string;
  readonly port: number | string;
  readonly grpc?: number | string | undefined;
  readonly tcp?: number | string | undefined;
}

interface Served {
  /** Ends its streams in order, tells the clients of sockets to go, and serves on. */
  tellToGo(): void;
  /** Accepts nothing more, and resolves once what is in flight is answered. */
  close(): Promise<void>;
}

const name = process.env.HOSTNAME ?? "";
const EVERY_MS = 100;

/** Returns what all kinds of servers share: what is in flight, and the moment at which streams end. */
function lives() {
  const inFlight = new Set<Promise<unknown>>();
  const stop = Promise.withResolvers<void>();
  return {
    isOver: false,
    /** Resolves after so long; for streams also once the server ends. */
    pause: (ms: number) => Promise.race([Bun.sleep(ms), stop.promise]),
    add<T>(work: Promise<T>): Promise<T> {
      inFlight.add(work);
      void work.catch(() => undefined).finally(() => inFlight.delete(work));
      return work;
    },
    endStreams() {
      this.isOver = true;
      stop.resolve();
    },
    async done() {
      while (inFlight.size > 0) await Promise.allSettled([...inFlight]);
    },
  };
}

type Lives = ReturnType<typeof lives>;

export function serve({ hostname = "127.0.0.1", port, grpc, tcp }: Ports): Served {
  const all = lives();
  const servers = [
    serveHttp(all, { hostname, port: Number(port) }),
    ...(grpc === undefined ? [] : [serveGrpc(all, { hostname, port: Number(grpc) })]),
    ...(tcp === undefined ? [] : [serveTcp({ hostname, port: Number(tcp) })]),
  ];
  return {
    tellToGo() {
      all.endStreams();
      for (const server of servers) server.tellToGo?.();
    },
    async close() {
      for (const server of servers) server.close();
      await all.done();
    },
  };
}

interface Server {
  /** Tells the clients of its sockets to go. */
  readonly tellToGo?: () => void;
  readonly close: () => void;
}

interface Address {
  readonly hostname: string;
  readonly port: number;
}

function serveHttp(all: Lives, address: Address): Server {
  const sockets = new Set<Bun.ServerWebSocket<unknown>>();
  const server = Bun.serve({
    ...address,
    idleTimeout: 0, // a long answer is no idle connection
    fetch(request, self) {
      const { pathname } = new URL(request.url);
      if (pathname === "/socket" && self.upgrade(request)) return undefined;
      if (pathname === "/events") return events(all, msOf(request.url));
      return all.add(Bun.sleep(msOf(request.url)).then(() => new Response(name)));
    },
    websocket: {
      open: (socket) => void sockets.add(socket),
      close: (socket) => void sockets.delete(socket),
      message: (socket) => void socket.send(name),
    },
  });
  return {
    close: () => void server.stop(),
    tellToGo() {
      for (const socket of sockets) socket.close(1001);
    },
  };
}

/** An answer without a length: it is whole if its last chunk comes. */
function events(all: Lives, ms: number): Response {
  const write = async (stream: ReadableStreamDirectController): Promise<void> => {
    const end = performance.now() + ms;
    for (;;) {
      await stream.write(`data: ${name}\n\n`);
      await stream.flush();
      if (performance.now() >= end || all.isOver) break;
      await all.pause(EVERY_MS);
    }
    await stream.end();
  };
  const body = new ReadableStream({ type: "direct", pull: (stream) => all.add(write(stream)) });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

function serveGrpc(all: Lives, { hostname, port }: Address): Server {
  const message = Buffer.concat([Buffer.of(0, 0, 0, 0, name.length), Buffer.from(name)]);
  const answer = async (stream: ServerHttp2Stream, ms: number): Promise<void> => {
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    stream.on("close", resolve);
    const end = performance.now() + ms;
    for (let now = end - ms; now < end && !all.isOver && !stream.destroyed; now = performance.now()) {
      stream.write(message);
      await all.pause(Math.min(end - now, EVERY_MS));
    }
    stream.end(message);
    await closed;
  };
  const server = createHttp2().on("stream", (stream: ServerHttp2Stream, { ":path": path = "" }) => {
    stream.on("error", () => undefined).on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
    stream.resume();
    stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
    void all.add(answer(stream, msOf(path)));
  });
  server.listen(port, hostname);
  return { close: () => void server.close() };
}

/** The line `bye` tells a client to go. */
function serveTcp({ hostname, port }: Address): Server {
  const sockets = new Set<Socket>();
  const server = createTcp((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined).on("close", () => void sockets.delete(socket));
    socket.on("data", () => {
      if (socket.writable) socket.write(`${name}\n`);
    });
  });
  server.listen(port, hostname);
  return {
    close: () => void server.close(),
    tellToGo() {
      for (const socket of sockets) socket.end("bye\n");
    },
  };
}

function msOf(url: string): number {
  return Number(new URL(url, "http://app").searchParams.get("ms") ?? 0);
}
