import type { Socket, SocketHandler } from "bun";
import { type Address, hostsToDial } from "../../core/base/address.ts";
import type { HttpAnswer } from "../../core/base/http-framing.ts";
import { createAnswerReader, encodeRequest, type HttpRequest } from "../../core/base/http-message.ts";
import { memoizeLast } from "../../core/base/memoize-last.ts";
import type { WholeOptions } from "./fetch.ts";
import { latin1 } from "./latin1.ts";
import { closedWithin, REFUSED, RequestFailed, tooLong } from "./request-failed.ts";

// Our own HTTP/1.1 over Bun.connect for plain http, which is what every pod's start and end wait for: measured beside
// fetch and undici it takes half the processor time, no second thread and a third of the memory, and obeys no proxy
// variable. Callbacks inside, because a wait may ask 110 times a second: promises and abort signals would double what
// that costs.

/** The default limit of an answer's bytes, head included. A longer one counts as broken. */
export const MAX_ANSWER = 64 * 1024;

type Cancel = () => void;
/** Gets the pieces of a body, as latin1. With it a body may have any length; the answer has only its beginning. */
export type OnBody = (text: string) => void;
type Done<T> = (outcome: T | RequestFailed) => void;

/** Sends requests to one server, one after the other or several at once, and keeps one idle connection for the next. */
export interface HttpClient extends Disposable {
  /** Calls `done` once, with the complete answer or the reason why there is none; not after the returned Cancel. */
  send(request: HttpRequest, done: Done<HttpAnswer>, onBody?: OnBody): Cancel;
  /** Resolves with the complete answer. Rejects with RequestFailed, or with the signal's reason if that is aborted. */
  request(request: HttpRequest, signal: AbortSignal, onBody?: OnBody): Promise<HttpAnswer>;
}

/** Counts connections that are neither open nor refused, cancelled ones included: Bun cannot end them before. */
export interface Pending {
  count: number;
}

export interface ClientOptions {
  /** In bytes; by default MAX_ANSWER. */
  readonly maxAnswer?: number | undefined;
  /** A counter that the client keeps up to date. */
  readonly pending?: Pending | undefined;
}

interface Connection {
  readonly socket: Socket<undefined>;
  receive: (text: string, isEnd: boolean) => void;
}

/** Creates an HTTP/1.1 client without time limits. https goes by fetch. */
export function createHttpClient({ maxAnswer = MAX_ANSWER, pending }: ClientOptions = {}): HttpClient {
  let idle: Connection | undefined;
  const encode = memoizeLast(encodeRequest);
  const park = (connection: Connection): void => {
    idle = connection;
    connection.receive = () => {
      // the server has ended it, or sends something that was not asked for
      if (idle === connection) idle = undefined;
      connection.socket.end();
    };
  };
  const send = (request: HttpRequest, done: Done<HttpAnswer>, onBody?: OnBody): Cancel => {
    if (request.target.isSecure) return sendSecurely(request, { maxAnswer, onBody }, done);
    const use = (connection: Connection): Cancel =>
      exchange({ connection, request, encode, maxAnswer, onBody }, (outcome) => {
        if (outcome instanceof RequestFailed) {
          connection.socket.terminate();
          return done(outcome);
        }
        if (outcome.isReusable && idle === undefined) park(connection);
        else connection.socket.end();
        done(outcome);
      });
    const kept = idle;
    idle = undefined;
    if (kept !== undefined) return use(kept);
    const begin = (outcome: Connection | RequestFailed): void => {
      if (outcome instanceof RequestFailed) done(outcome);
      else cancel = use(outcome);
    };
    let cancel = connect(request.target.address, begin, pending);
    return () => cancel();
  };
  return {
    send,
    request: (request, signal, onBody) => promised(signal, (done) => send(request, done, onBody)),
    [Symbol.dispose]() {
      idle?.socket.end();
      idle = undefined;
    },
  };
}

export interface HoldOptions {
  /** For how long the connection must stay open, in ms. 0: it need only be accepted. */
  readonly forMs: number;
  readonly pending: Pending;
  /** Counts the connections that are open. */
  readonly held: Pending;
}

/**
 * Opens a connection, and closes it after `forMs`. Calls `done` with undefined if it was accepted and still open then,
 * or with the reason why not.
 */
export function holdConnection(address: Address, { forMs, pending, held }: HoldOptions, done: Done<undefined>): Cancel {
  const hold = (connection: Connection | RequestFailed): void => {
    if (connection instanceof RequestFailed) return done(connection);
    held.count += 1;
    cancel = () => {
      clearTimeout(timer);
      connection.receive = () => undefined;
      held.count -= 1;
      connection.socket.end();
    };
    const end = (outcome: undefined | RequestFailed): void => {
      cancel();
      done(outcome);
    };
    connection.receive = (_, isEnd) => {
      if (isEnd) end(new RequestFailed("broken", closedWithin(forMs)));
    };
    const timer = forMs === 0 ? undefined : setTimeout(() => end(undefined), forMs);
    if (forMs === 0) end(undefined);
  };
  let cancel = connect(address, hold, pending);
  return () => cancel();
}

/**
 * Resolves once a connection is accepted. Rejects with RequestFailed if it is not, or with the signal's reason.
 */
export function tryConnect(address: Address, signal: AbortSignal): Promise<undefined> {
  const hold = { forMs: 0, pending: { count: 0 }, held: { count: 0 } };
  return promised(signal, (done) => holdConnection(address, hold, done));
}

function promised<T>(signal: AbortSignal, start: (done: Done<T>) => Cancel): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const onAbort = () => {
    cancel();
    reject(signal.reason);
  };
  const cancel = start((outcome) => {
    signal.removeEventListener("abort", onAbort);
    if (outcome instanceof RequestFailed) reject(outcome);
    else resolve(outcome);
  });
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  return promise;
}

function sendSecurely(request: HttpRequest, options: Omit<WholeOptions, "signal">, done: Done<HttpAnswer>): Cancel {
  const controller = new AbortController();
  const { signal } = controller;
  import("./fetch.ts") // few need it
    .then(({ fetchWhole }) => fetchWhole(request, { ...options, signal }))
    .then(done, (error) => {
      if (!signal.aborted) done(error);
    });
  return () => controller.abort();
}

/** Connects. For `localhost` tries both loopbacks; if neither accepts, fails as the first did. */
function connect(address: Address, done: Done<Connection>, pending: Pending = { count: 0 }): Cancel {
  if (address.kind === "unix") return open({ unix: address.path }, done, pending);
  const { port } = address;
  const [first = "", second] = hostsToDial(address.host);
  if (second === undefined) return open({ hostname: first, port }, done, pending);
  const trySecond = (outcome: Connection | RequestFailed): void => {
    if (!(outcome instanceof RequestFailed)) return done(outcome);
    const end = (other: Connection | RequestFailed) => done(other instanceof RequestFailed ? outcome : other);
    cancel = open({ hostname: second, port }, end, pending);
  };
  let cancel = open({ hostname: first, port }, trySecond, pending);
  return () => cancel();
}

type Where = { readonly unix: string } | { readonly hostname: string; readonly port: number };

function open(where: Where, done: Done<Connection>, pending: Pending): Cancel {
  let connection: Connection | undefined;
  let isOver = false;
  let isPending = true;
  pending.count += 1;
  const endPending = (): void => {
    if (isPending) pending.count -= 1;
    isPending = false;
  };
  const fail = (error: unknown): void => {
    endPending();
    if (!isOver) done(connectFailure(error));
    isOver = true;
  };
  const onEnd = () => connection?.receive("", true);
  const socket: SocketHandler<undefined> = {
    open(socket) {
      endPending();
      if (isOver) return void socket.terminate();
      isOver = true;
      connection = { socket, receive: () => undefined };
      done(connection);
    },
    binaryType: "uint8array",
    data: (_, bytes) => connection?.receive(latin1(bytes), false),
    end: onEnd,
    close: onEnd,
    error: onEnd,
    connectError: (_, error) => fail(error),
  };
  const connecting = "unix" in where ? Bun.connect({ ...where, socket }) : Bun.connect({ ...where, socket });
  connecting.catch(fail);
  return () => {
    isOver = true;
  };
}

function connectFailure(error: unknown): RequestFailed {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === "ECONNREFUSED" || code === "ENOENT") return new RequestFailed("refused", REFUSED);
  return new RequestFailed("unreachable", code === undefined ? String(error) : `connection failed (${code})`);
}

interface Exchange {
  readonly connection: Connection;
  readonly request: HttpRequest;
  readonly encode: (request: HttpRequest) => string;
  readonly maxAnswer: number;
  readonly onBody: OnBody | undefined;
}

function exchange({ connection, request, encode, maxAnswer, onBody }: Exchange, done: Done<HttpAnswer>): Cancel {
  let length = 0;
  const reader = createAnswerReader(request.method, onBody);
  const end = (outcome: HttpAnswer | RequestFailed): void => {
    connection.receive = () => undefined;
    done(outcome);
  };
  connection.receive = (more, isEnd) => {
    if (onBody === undefined) {
      length += more.length;
      if (length > maxAnswer) return end(new RequestFailed("broken", tooLong(maxAnswer)));
    }
    const parsed = reader.take(more, isEnd);
    if (parsed.kind === "garbage") end(new RequestFailed("broken", parsed.reason));
    if (parsed.kind === "answer") end(parsed.answer);
  };
  connection.socket.write(encode(request));
  return () => {
    connection.receive = () => undefined;
    connection.socket.terminate();
  };
}
