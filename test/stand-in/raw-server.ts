import { createServer, type Socket } from "node:net";
import { listen } from "../harness/free-port.ts";
import { takes } from "../harness/time.ts";

/** A TCP server that answers as no HTTP server would. */
export interface RawServer extends AsyncDisposable {
  readonly port: number;
  /** Called with the connection each time bytes come; may be replaced at any time. */
  answer: (socket: Socket) => void;
  /** Returns the number of bytes that it has received. */
  readonly received: () => number;
  /** Stops listening and cuts all connections; `open` listens at the same port again. */
  close(): Promise<void>;
  open(): Promise<void>;
}

/** Starts a raw server on a free port of `host`. */
export async function startRawServer(answer: RawServer["answer"], host = "127.0.0.1"): Promise<RawServer> {
  let received = 0;
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => sockets.delete(socket));
    socket.on("data", ({ length }) => {
      received += length;
      raw.answer(socket);
    });
  });
  const port = await listen(server, host);
  const raw: RawServer = {
    port,
    answer,
    received: () => received,
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        for (const socket of sockets) socket.destroy();
      }),
    open: () => new Promise((listening) => server.listen(port, host, listening)),
    [Symbol.asyncDispose]: () => raw.close(),
  };
  return raw;
}

/** Writes the text over and over, as fast as the client reads it, until the connection ends. */
export function pour(socket: Socket, text: string): void {
  const more = (): void => {
    while (!socket.destroyed && socket.write(text.repeat(100)));
  };
  socket.on("drain", more);
  more();
}

/** Writes a text one character every `ms`, until its end or the connection's. */
export async function drip(socket: Socket, text: string, ms: number): Promise<void> {
  for (const byte of text) {
    if (socket.destroyed) return;
    socket.write(byte);
    await takes(ms);
  }
}

/** Returns an HTTP answer, 200 with that body. */
export const ok = (body: string) => `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
