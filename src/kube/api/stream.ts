import { createQueue } from "../../system/queue.ts";
import { ApiError } from "./api-error.ts";
import type { Access } from "./identity.ts";
import { toApiError } from "./unanswered.ts";

/** A WebSocket to the API server; `using` it. */
export interface Stream extends Disposable {
  send(bytes: Uint8Array): void;
  /** One after the other; undefined: the stream is over, whoever ended it. @throws the signal's reason when it is aborted */
  next(): Promise<Uint8Array | undefined>;
}

export interface StreamRequest {
  readonly path: string;
  readonly protocol: string;
  readonly signal: AbortSignal | undefined;
  /** Until it is open. */
  readonly timeoutMs: number;
  /** Throws what the server says against it: Bun tells no more of a refusal than its status; or why it cannot be asked. */
  explain(status: number | undefined): Promise<void>;
}

/** Bytes that came and were not read: more is nothing that ebb has asked for. */
const MOST_UNREAD = 2 ** 20;

/**
 * Opens a WebSocket stream such as exec or portforward. @throws ApiError in the server's words where there is none; the signal's
 * reason where it is aborted
 */
export async function openStream(access: Access, asked: StreamRequest): Promise<Stream> {
  const { signal } = asked;
  const messages = createQueue<Uint8Array | "over">();
  let unread = 0;
  let isOver = false;
  const receive = (bytes: Uint8Array, from: WebSocket): void => {
    if (isOver) return;
    messages.push(bytes);
    unread += bytes.length;
    if (unread > MOST_UNREAD) from.terminate();
  };
  const socket = await connected(access, asked, receive);
  const end = (): void => {
    if (isOver) return;
    isOver = true;
    signal?.removeEventListener("abort", end);
    socket.terminate();
    messages.push("over");
  };
  socket.onclose = end;
  socket.onerror = end;
  signal?.addEventListener("abort", end, { once: true });
  if (socket.readyState !== WebSocket.OPEN || signal?.aborted) end();
  return {
    send: (bytes) => void socket.send(bytes),
    async next() {
      signal?.throwIfAborted();
      const message = await messages.next();
      signal?.throwIfAborted();
      if (message !== "over") {
        unread -= message.length;
        return message;
      }
      messages.push("over"); // it stays so
      return undefined;
    },
    [Symbol.dispose]: end,
  };
}

type Receive = (bytes: Uint8Array, from: WebSocket) => void;

/** Opens a socket. After a 401 it tries once more, with fresh credentials from the exec plugin. */
async function connected(access: Access, asked: StreamRequest, receive: Receive): Promise<WebSocket> {
  const { path, signal, explain } = asked;
  const named = { method: "GET", path: path.replace(/\?.*/, ""), signal };
  const answer = await tryOpen(access, asked, { receive, isRefused: false });
  const final = answer === 401 ? await tryOpen(access, asked, { receive, isRefused: true }) : answer;
  if (final instanceof Error) {
    if (isUnexplained(final)) await explain(undefined);
    throw toApiError(final, named, access);
  }
  if (typeof final === "number") {
    await explain(final);
    throw new ApiError(`GET ${named.path}: ${final}`, {
      status: final,
      reason: String(final),
      retryAfterMs: undefined,
    });
  }
  return final;
}

interface Try {
  readonly receive: Receive;
  readonly isRefused: boolean;
}

/** Or the status of the refusal, or why there is no answer. */
async function tryOpen(
  access: Access,
  asked: StreamRequest,
  { receive, isRefused }: Try,
): Promise<WebSocket | number | Error> {
  const { signal, timeoutMs } = asked;
  signal?.throwIfAborted();
  const limit = AbortSignal.timeout(timeoutMs);
  const socket = await createSocket(access, asked, isRefused);
  socket.onmessage = ({ data }) => receive(typeof data === "string" ? Buffer.from(data) : new Uint8Array(data), socket);
  const status = statusOf(socket);
  try {
    await whenOpen(socket, signal === undefined ? limit : AbortSignal.any([signal, limit]));
    return socket;
  } catch (error) {
    socket.terminate();
    return status() ?? (error as Error);
  }
}

async function createSocket(access: Access, { path, protocol }: StreamRequest, isRefused: boolean): Promise<WebSocket> {
  const { ca, cert, key, headers } = await access.identity(isRefused);
  const { server, serverName, isInsecure, proxy } = access;
  const tls = { ca, cert, key, ...(serverName && { serverName }), rejectUnauthorized: isInsecure !== true };
  const socket = new WebSocket(server.replace(/^http/, "ws") + path, {
    protocols: [protocol],
    headers: { "user-agent": "ebb", ...headers },
    perMessageDeflate: false,
    tls: tls as Bun.TLSOptions, // what is undefined is not there
    ...(proxy && { proxy }),
  });
  socket.binaryType = "arraybuffer";
  return socket;
}

function whenOpen(socket: WebSocket, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    const settle = (call: () => void) => {
      signal.removeEventListener("abort", onAbort);
      call();
    };
    socket.onopen = () => settle(resolve);
    socket.onerror = (event) => settle(() => reject(errorOf(event)));
    socket.onclose = () => settle(() => reject(new Error("it was closed at once")));
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
  });
}

/** Bun 1.4.3 tells no code: it is to be found out by a request. Newer ones do. */
function isUnexplained(error: Error): boolean {
  return error.name === "Error" && !("code" in error && error.code !== undefined);
}

function errorOf(event: Event): Error {
  const { error, message } = event as ErrorEvent;
  return error instanceof Error ? error : new Error(message);
}

/**
 * Returns a reader of the HTTP status that came instead of 101. Bun's event `handshake` has it; the error does not (Bun
 * 1.4.3).
 */
function statusOf(socket: WebSocket): () => number | undefined {
  let status: number | undefined;
  socket.addEventListener("handshake" as "message", ({ data }: MessageEvent<{ readonly statusCode: number }>) => {
    if (data.statusCode !== 101) status = data.statusCode;
  });
  return () => status;
}
