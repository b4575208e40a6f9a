import type { AddressInfo } from "node:net";
import { createServer, type Socket } from "node:net";
import { takes } from "../time.ts";

/** A TCP server that says what no HTTP server would. */
export interface RawServer extends AsyncDisposable {
  readonly port: number;
  /** What it does with each request from now on: called with the connection once the first bytes came. */
  answer: (socket: Socket) => void;
  /** How many bytes it ever got. */
  readonly received: () => number;
  /** Nobody listens there any more, until `open` is called. */
  close(): Promise<void>;
  open(): Promise<void>;
}

export async function startRawServer(answer: RawServer["answer"], host = "127.0.0.1"): Promise<RawServer> {
  let received = 0;
  let port = 0;
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
  const raw: RawServer = {
    get port() {
      return port;
    },
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
  await raw.open();
  port = (server.address() as AddressInfo).port;
  return raw;
}

/** Writes the text again and again for as long as the connection takes it. */
export function pour(socket: Socket, text: string): void {
  const more = (): void => {
    while (!socket.destroyed && socket.write(text.repeat(100)));
  };
  socket.on("drain", more);
  more();
}

/** Writes a byte each `ms`. */
export async function drip(socket: Socket, text: string, ms: number): Promise<void> {
  for (const byte of text) {
    if (socket.destroyed) return;
    socket.write(byte);
    await takes(ms);
  }
}
