import { createQueue } from "../../shared/io/queue.ts";
import { ApiError, toApiError } from "./api-error.ts";
import { type Access, type Identity, tlsOf } from "./identity.ts";

/** An open WebSocket to the API server. Disposing of it (`using`) closes it. */
export interface Stream extends Disposable {
  send(bytes: Uint8Array): void;
  /**
   * Resolves with the next message; once either side has ended the stream, with undefined at each call. Rejects with
   * the signal's reason if the signal is aborted.
   */
  next(): Promise<Uint8Array | undefined>;
}

/** A stream to open. */
interface StreamRequest {
  readonly path: string;
  /** The WebSocket's subprotocol. */
  readonly protocol: string;
  readonly signal: AbortSignal | undefined;
  /** Milliseconds within which the stream must be open, whatever else that takes (credentials, a second try). */
  readonly timeoutMs: number;
  /**
   * Asks the server again, because Bun tells only the status of a refusal. Rejects with the reason that the server
   * gives; resolves if it finds out nothing.
   */
  explain(status: number): Promise<void>;
}

/** Bytes that came and were not read. A stream with more is cut: ebb asks for nothing that large. */
const MOST_UNREAD = 2 ** 20;

/**
 * Opens a WebSocket stream such as exec or portforward, which ends when `signal` is aborted or more than 1 MiB
 * (MOST_UNREAD) waits to be read. Rejects with ApiError, in the server's words if it refused, with Failure(69) if there
 * are no credentials, and with the signal's reason if the signal is aborted before the stream is open.
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
      messages.push("over"); // for the next call
      return undefined;
    },
    [Symbol.dispose]: end,
  };
}

type Receive = (bytes: Uint8Array, from: WebSocket) => void;

/** Opens a socket. After a 401 it tries once more, with fresh credentials of the exec plugin. */
async function connected(access: Access, asked: StreamRequest, receive: Receive): Promise<WebSocket> {
  const { path, signal, timeoutMs, explain } = asked;
  const named = { method: "GET", path: path.replace(/\?.*/, ""), signal };
  const limit = AbortSignal.timeout(timeoutMs);
  const ending = signal === undefined ? limit : AbortSignal.any([signal, limit]);
  const answer = await tryOpen(access, asked, { receive, ending, isRefused: false });
  const final = answer === 401 ? await tryOpen(access, asked, { receive, ending, isRefused: true }) : answer;
  if (final instanceof Error) throw toApiError(final, named, access);
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
  /** Ends the opening, not the open stream. */
  readonly ending: AbortSignal;
  readonly isRefused: boolean;
}

/** Returns the open socket, the status of the server's refusal, or the error if there was no answer. */
async function tryOpen(
  access: Access,
  asked: StreamRequest,
  { receive, ending, isRefused }: Try,
): Promise<WebSocket | number | Error> {
  const identity = await access.identity(isRefused);
  if (ending.aborted) return ending.reason;
  const socket = createSocket(access, asked, identity);
  socket.onmessage = ({ data }) => receive(typeof data === "string" ? Buffer.from(data) : new Uint8Array(data), socket);
  const status = handshakeStatusOf(socket);
  try {
    await whenOpen(socket, ending);
    return socket;
  } catch (error) {
    socket.terminate();
    return status() ?? (error as Error);
  }
}

function createSocket(access: Access, { path, protocol }: StreamRequest, identity: Identity): WebSocket {
  const { server, proxy } = access;
  const socket = new WebSocket(server.replace(/^http/, "ws") + path, {
    protocols: [protocol],
    headers: { "user-agent": "ebb", ...identity.headers },
    perMessageDeflate: false,
    tls: tlsOf(access, identity),
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

function errorOf(event: Event): Error {
  const { error, message } = event as ErrorEvent;
  return error instanceof Error ? error : new Error(message);
}

/**
 * Returns a function that returns the HTTP status that came instead of 101, or undefined. Bun's event `handshake` has
 * it; the error does not (Bun 1.4.5).
 */
function handshakeStatusOf(socket: WebSocket): () => number | undefined {
  let status: number | undefined;
  socket.addEventListener("handshake" as "message", ({ data }: MessageEvent<{ readonly statusCode: number }>) => {
    if (data.statusCode !== 101) status = data.statusCode;
  });
  return () => status;
}
