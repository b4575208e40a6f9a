import type { Socket } from "node:net";

/** What a server does with a request. */
export interface Answer {
  readonly isReady?: true;
  /** It took a quit: it closes its ports. */
  readonly isQuit?: true;
  /** What it says, where that is a body. */
  readonly body?: string;
  readonly give: (socket: Socket) => void;
}

function http(status: number, body: string, headers: readonly string[] = []): string {
  const head = [`HTTP/1.1 ${status} Whatever`, `content-length: ${Buffer.byteLength(body)}`, ...headers];
  return `${head.join("\r\n")}\r\n\r\n${body}`;
}

/** An answer of HTTP, complete. */
export function status(code: number, body = "", headers: readonly string[] = []): Answer {
  return { body, give: (socket) => void socket.write(http(code, body, headers)) };
}

/** Anything, in one piece; then the connection is closed. */
export function raw(text: string): Answer {
  return { give: (socket) => void socket.end(text) };
}

/** What Envoy's /server_info says. */
export function state(name: string, code = 200): Answer {
  return status(code, JSON.stringify({ version: "abc/1.40.0/Clean/RELEASE/BoringSSL", state: name }));
}

export const live: Answer = { ...state("LIVE"), isReady: true };
export const initializing = state("PRE_INITIALIZING");
/** What /ready says, of Envoy and of linkerd-proxy. */
export const ready: Answer = { ...status(200, "LIVE\n"), isReady: true };
export const notReady = status(503, "PRE_INITIALIZING\n");
export const quits: Answer = { ...status(200, "OK\n"), isQuit: true };
/** Is there, takes the request, and never answers. */
export const hangs: Answer = { give: () => undefined };
export const resets: Answer = { give: (socket) => void socket.resetAndDestroy() };
export const closes: Answer = { give: (socket) => void socket.end() };
export const garbage = raw("\0\x01 what is this\r\n\r\n");
