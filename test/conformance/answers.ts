import type { Socket } from "node:net";

/** What a server does with a request. */
export interface Answer {
  /** Whether it says that the sidecar is ready. */
  readonly isReady?: true;
  /** Whether it accepts a quit: then the server closes its ports. */
  readonly isQuit?: true;
  /** The body of an HTTP answer. */
  readonly body?: string;
  /** Writes the answer to a connection, or does something else with it. */
  readonly give: (socket: Socket) => void;
}

function http(status: number, body: string, headers: readonly string[] = []): string {
  const head = [`HTTP/1.1 ${status} Whatever`, `content-length: ${Buffer.byteLength(body)}`, ...headers];
  return `${head.join("\r\n")}\r\n\r\n${body}`;
}

/** Returns a complete HTTP answer. */
export function status(code: number, body = "", headers: readonly string[] = []): Answer {
  return { body, give: (socket) => void socket.write(http(code, body, headers)) };
}

/** Returns an answer of any text, in one piece, after which the connection is closed. */
export function raw(text: string): Answer {
  return { give: (socket) => void socket.end(text) };
}

/** Returns Envoy's answer to /server_info in that state. */
export function state(name: string, code = 200): Answer {
  return status(code, JSON.stringify({ version: "abc/1.40.0/Clean/RELEASE/BoringSSL", state: name }));
}

export const live: Answer = { ...state("LIVE"), isReady: true };
export const initializing = state("PRE_INITIALIZING");
/** The answer to /ready, of Envoy and of linkerd-proxy. */
export const ready: Answer = { ...status(200, "LIVE\n"), isReady: true };
export const notReady = status(503, "PRE_INITIALIZING\n");
export const quits: Answer = { ...status(200, "OK\n"), isQuit: true };
/** Reads the request, and never answers. */
export const hangs: Answer = { give: () => undefined };
export const resets: Answer = { give: (socket) => void socket.resetAndDestroy() };
export const closes: Answer = { give: (socket) => void socket.end() };
export const garbage = raw("\0\x01 what is this\r\n\r\n");
