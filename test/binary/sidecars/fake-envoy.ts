import { type AddressInfo, createServer, type Socket } from "node:net";
import { pour } from "./raw-server.ts";

export type Endpoint = "ready" | "healthcheck/fail" | "drain_listeners" | "stats" | "config_dump" | "quitquitquit";

/** What it does instead of an answer, or in it. `dying`: it ends there and then; nobody listens any more. */
export type Fault = "dying" | "hanging" | "500" | "403" | "garbage" | "resetting" | "endless";

export const faults: readonly Fault[] = ["dying", "hanging", "500", "403", "garbage", "resetting", "endless"];

export interface FakeEnvoy extends AsyncDisposable {
  /** For --admin. */
  readonly url: string;
  /** `METHOD /path`, without the query, of each request so far but those for its configuration, which may come at any time. */
  readonly requests: readonly string[];
  /** The body of its statistics. */
  stats: string;
  isRunning(): boolean;
}

/** The admin interface of an Envoy with one fault, over bare TCP: a real Envoy cannot be made to have it. */
export async function startFakeEnvoy(endpoint?: Endpoint, fault?: Fault): Promise<FakeEnvoy> {
  const requests: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined).on("close", () => sockets.delete(socket));
    socket.on("data", (bytes) => {
      const [, method, path = ""] = /^(\w+) \/([^? ]*)/.exec(bytes.toString("latin1")) ?? [];
      if (path !== "config_dump" && path !== "listeners") requests.push(`${method} /${path}`);
      if (path === endpoint && fault !== undefined) fail(socket, fault, die);
      else socket.write(answer("200 OK", bodyOf(path, envoy.stats)), path === "quitquitquit" ? die : undefined);
    });
  });
  const die = (): void => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const envoy: FakeEnvoy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    stats: idle,
    isRunning: () => server.listening,
    [Symbol.asyncDispose]: async () => die(),
  };
  return envoy;
}

/** Statistics of an Envoy where nothing but the asking connection is. */
export const idle =
  "http.admin.downstream_cx_active: 1\nhttp.admin.downstream_rq_active: 1\nlistener.admin.downstream_cx_active: 1\n";

/** Statistics with so many TCP connections. */
export function busy(connections: number): string {
  return `${idle}listener.127.0.0.1_8080.downstream_cx_active: ${connections}\n`;
}

function bodyOf(path: string, stats: string): string {
  if (path === "stats") return stats;
  if (path === "listeners") return "{}";
  return path === "config_dump" ? dump : "OK\n";
}

/** Tells that the listener of `busy` is outbound, to who asks. */
const dump = JSON.stringify({
  configs: [
    {
      listener: {
        address: { socket_address: { address: "127.0.0.1", port_value: 8080 } },
        traffic_direction: "OUTBOUND",
      },
    },
  ],
});

function answer(status: string, body: string): string {
  return `HTTP/1.1 ${status}\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
}

function fail(socket: Socket, fault: Fault, die: () => void): void {
  switch (fault) {
    case "dying":
      return die();
    case "hanging":
      return;
    case "500":
      return void socket.write(answer("500 Internal Server Error", "no\n"));
    case "403":
      return void socket.write(answer("403 Forbidden", "not allowed\n"));
    case "garbage":
      return void socket.end("\x00\x01 garbage \xff\n\n");
    case "resetting":
      return void socket.write("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf", () => socket.resetAndDestroy());
    case "endless":
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      return pour(socket, "listener.127.0.0.1_8080.downstream_cx_active: 0\n");
  }
}
