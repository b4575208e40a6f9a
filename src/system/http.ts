import type { Socket, SocketHandler } from "bun";
import { type Address, loopbacks } from "../core/address.ts";
import { encodeRequest, type HttpAnswer, type HttpRequest, parseAnswer } from "../core/http-message.ts";
import { requestSecurely } from "./https.ts";
import { RequestFailed } from "./request-failed.ts";

// Our own HTTP/1.1 over Bun.connect for plain http, which is what every pod's start and end wait for: measured beside fetch
// and undici it takes half the processor time, no second thread and a third of the memory, and obeys no proxy variable.

const MAX_ANSWER = 64 * 1024;

/** Sends requests to one place, one at a time or several at once, and keeps an idle connection for the next. */
export interface HttpClient extends Disposable {
  /** @throws RequestFailed when no complete answer of at most 64 KiB came; the signal's reason when it is aborted */
  request(request: HttpRequest, signal: AbortSignal): Promise<HttpAnswer>;
}

interface Connection {
  readonly socket: Socket<undefined>;
  receive: (text: string, isEnd: boolean) => void;
}

export function createHttpClient(): HttpClient {
  let idle: Connection | undefined;
  const park = (connection: Connection): void => {
    idle = connection;
    connection.receive = () => {
      // it ended, or says something that nobody asked for
      if (idle === connection) idle = undefined;
      connection.socket.end();
    };
  };
  return {
    async request(request, signal) {
      if (request.target.isSecure) return requestSecurely(request, signal);
      const kept = idle;
      idle = undefined;
      const connection = kept ?? (await connect(request.target.address, signal));
      try {
        const answer = await exchange(connection, request, signal);
        if (answer.isReusable && idle === undefined) park(connection);
        else connection.socket.end();
        return answer;
      } catch (error) {
        connection.socket.terminate();
        throw error;
      }
    },
    [Symbol.dispose]() {
      idle?.socket.end();
      idle = undefined;
    },
  };
}

/** Whether anything accepts connections there. @throws RequestFailed when not */
export async function tryConnect(address: Address, signal: AbortSignal): Promise<void> {
  (await connect(address, signal)).socket.end();
}

async function connect(address: Address, signal: AbortSignal): Promise<Connection> {
  if (address.kind === "unix") return open({ unix: address.path }, signal);
  const [first, ...others] = loopbacks(address.host);
  try {
    return await open({ hostname: first as string, port: address.port }, signal);
  } catch (error) {
    const [second] = others;
    if (second === undefined || signal.aborted) throw error;
    return open({ hostname: second, port: address.port }, signal).catch(() => {
      throw error;
    });
  }
}

type Where = { readonly unix: string } | { readonly hostname: string; readonly port: number };

function open(where: Where, signal: AbortSignal): Promise<Connection> {
  const { promise, resolve, reject } = Promise.withResolvers<Connection>();
  const onAbort = () => reject(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  const fail = (error: unknown) => reject(connectFailure(error));
  let connection: Connection | undefined;
  const onEnd = () => connection?.receive("", true);
  const socket: SocketHandler<undefined> = {
    open(socket) {
      if (signal.aborted) socket.terminate();
      connection = { socket, receive: () => undefined };
      resolve(connection);
    },
    data: (_, bytes) => connection?.receive(bytes.toString("latin1"), false),
    end: onEnd,
    close: onEnd,
    error: onEnd,
    connectError: (_, error) => fail(error),
  };
  const connecting = "unix" in where ? Bun.connect({ ...where, socket }) : Bun.connect({ ...where, socket });
  connecting.catch(fail);
  return promise.finally(() => signal.removeEventListener("abort", onAbort));
}

function connectFailure(error: unknown): RequestFailed {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === "ECONNREFUSED" || code === "ENOENT") return new RequestFailed("refused", "connection refused");
  return new RequestFailed("broken", code === undefined ? String(error) : `connection failed (${code})`);
}

function exchange(connection: Connection, request: HttpRequest, signal: AbortSignal): Promise<HttpAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<HttpAnswer>();
  let received = "";
  connection.receive = (text, isEnd) => {
    received += text;
    if (received.length > MAX_ANSWER) return reject(new RequestFailed("broken", "an answer longer than 64 KiB"));
    const parsed = parseAnswer(received, isEnd, request.method);
    if (parsed.kind === "garbage") reject(new RequestFailed("broken", parsed.reason));
    if (parsed.kind === "answer") resolve(parsed.answer);
  };
  const onAbort = () => reject(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  connection.socket.write(encodeRequest(request));
  return promise.finally(() => {
    signal.removeEventListener("abort", onAbort);
    connection.receive = () => undefined;
  });
}
