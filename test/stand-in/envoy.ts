import { createServer, type Socket } from "node:net";
import { listen } from "../harness/free-port.ts";
import { type EnvoyState, envoyAnswer, live } from "./envoy-answers.ts";
import { pour } from "./raw-server.ts";

/**
 * A fault in the place of an answer. `dying`: the server ends at once, and nobody listens any more; `hanging`: it never
 * answers; `endless`: its answer never ends.
 */
export type Fault = (typeof faults)[number];

export const faults = ["dying", "hanging", "500", "403", "garbage", "resetting", "endless"] as const;

/** What a test wants in the place of an answer: a fault, an answer of its own, or a body in pieces. */
export type Answer =
  | Fault
  | { readonly status?: number; readonly reason?: string; readonly location?: string; readonly body?: string }
  /** The pieces are written as fast as the client reads them, and end with the connection. */
  | { readonly pieces: () => Iterator<string> };

/** A stand-in for an Envoy's admin interface, over bare TCP: a real Envoy cannot be made to do all that. */
export interface StandInEnvoy extends AsyncDisposable {
  /** The value for --admin: `http://127.0.0.1:PORT`. */
  readonly url: string;
  readonly port: number;
  /**
   * `METHOD /path`, without query, of each request but those for /config_dump and /listeners, which may come at any
   * time.
   */
  readonly requests: readonly string[];
  /** `METHOD /path`, without query, of each request. */
  readonly allRequests: readonly string[];
  /** Envoy's state from now on. */
  state: EnvoyState["state"];
  /** The body of /stats from now on. */
  stats: EnvoyState["stats"];
  /** What it does in the place of Envoy's answers, by path without query; may be changed at any time. */
  readonly answers: Record<string, Answer>;
  /** Reports whether it still listens: a quit, or the fault `dying`, ends that. */
  isRunning(): boolean;
}

/** Starts a stand-in for an Envoy on a port of 127.0.0.1: ready and idle, with `answers` in the place of Envoy's. */
export async function startEnvoy(answers: Readonly<Record<string, Answer>> = {}): Promise<StandInEnvoy> {
  const allRequests: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined).on("close", () => sockets.delete(socket));
    socket.on("data", (bytes) => {
      const [, method, path = ""] = /^(\w+) (\/[^? ]*)/.exec(bytes.toString("latin1")) ?? [];
      allRequests.push(`${method} ${path}`);
      const own = envoy.answers[path];
      if (own !== undefined) return perform(socket, own, die);
      const { status, body } = envoyAnswer(path, envoy) ?? { status: 404, body: "" };
      socket.write(encode({ status, body }), path === "/quitquitquit" ? die : undefined);
    });
  });
  const die = (): void => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  const port = await listen(server);
  const envoy: StandInEnvoy = {
    ...live,
    url: `http://127.0.0.1:${port}`,
    port,
    get requests() {
      return allRequests.filter((request) => !/ \/(config_dump|listeners)$/.test(request));
    },
    allRequests,
    answers: { ...answers },
    isRunning: () => server.listening,
    [Symbol.asyncDispose]: async () => die(),
  };
  return envoy;
}

function encode({
  status = 200,
  reason = "",
  location,
  body = "",
}: Exclude<Answer, string | { pieces: unknown }>): Buffer {
  const lines = [`HTTP/1.1 ${status} ${reason}`, `content-length: ${Buffer.byteLength(body)}`];
  if (location !== undefined) lines.push(`location: ${location}`);
  return Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"), Buffer.from(body)]);
}

function perform(socket: Socket, answer: Answer, die: () => void): void {
  if (typeof answer === "string") return fail(socket, answer, die);
  if (!("pieces" in answer)) return void socket.write(encode(answer));
  socket.write("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n");
  const pieces = answer.pieces();
  const more = (): void => {
    for (;;) {
      const { value } = pieces.next();
      if (value === undefined || socket.destroyed) return void socket.end();
      if (!socket.write(value)) return;
    }
  };
  socket.on("drain", more);
  more();
}

function fail(socket: Socket, fault: Fault, die: () => void): void {
  switch (fault) {
    case "dying":
      return die();
    case "hanging":
      return;
    case "500":
      return void socket.write(encode({ status: 500, body: "no\n" }));
    case "403":
      return void socket.write(encode({ status: 403, body: "not allowed\n" }));
    case "garbage":
      return void socket.end("\x00\x01 garbage \xff\n\n");
    case "resetting":
      return void socket.write("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf", () => socket.resetAndDestroy());
    case "endless":
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      return pour(socket, "listener.0.0.0.0_8080.downstream_cx_active: 0\n");
  }
}
