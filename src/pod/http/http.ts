import { memoizeLast } from "../../shared/core/memoize-last.ts";
import {
  type Cancel,
  type Connection,
  type ConnectionCounts,
  connect,
  type Done,
  promised,
} from "../../shared/http/connection.ts";
import type { HttpAnswer } from "../../shared/http/core/http-framing.ts";
import { createAnswerReader, encodeRequest, type HttpRequest } from "../../shared/http/core/http-message.ts";
import type { WholeOptions } from "../../shared/http/fetch.ts";
import { RequestFailed, tooLong } from "../../shared/http/request-failed.ts";

// Our own HTTP/1.1 over Bun.connect for plain http, which is what every pod's start and end wait for: measured beside
// fetch and undici it takes half the processor time, no second thread and a third of the memory, and obeys no proxy
// variable. Callbacks inside, because a wait may ask 110 times a second: promises and abort signals would double what
// that costs.

/** The default limit of an answer's bytes, head included. A longer one counts as broken. */
export const DEFAULT_MAX_ANSWER = 64 * 1024;

/** Gets the pieces of a body, as latin1. With it a body may have any length; the answer has only its beginning. */
export type OnBody = (text: string) => void;
/** Sends requests to one server, one after the other or several at once, and keeps one idle connection for the next. */
export interface HttpClient extends Disposable {
  /** Calls `done` once, with the complete answer or the reason why there is none; not after the returned Cancel. */
  send(request: HttpRequest, done: Done<HttpAnswer>, onBody?: OnBody): Cancel;
  /** Resolves with the complete answer. Rejects with RequestFailed, or with the signal's reason if that is aborted. */
  request(request: HttpRequest, signal: AbortSignal, onBody?: OnBody): Promise<HttpAnswer>;
}

interface ClientOptions {
  /** In bytes; by default DEFAULT_MAX_ANSWER. */
  readonly maxAnswer?: number | undefined;
  /** The client keeps its `opening` up to date. */
  readonly counts?: ConnectionCounts | undefined;
  /** Called with the IP address of each connection that is made; for https, and for a Unix socket, it is not known. */
  readonly onConnect?: ((ip: string) => void) | undefined;
}

/** Creates an HTTP/1.1 client without time limits. https goes by fetch. */
export function createHttpClient(options: ClientOptions = {}): HttpClient {
  const { maxAnswer = DEFAULT_MAX_ANSWER, counts, onConnect } = options;
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
      if (outcome instanceof RequestFailed) return done(outcome);
      if (request.target.address.kind === "tcp") onConnect?.(outcome.socket.remoteAddress);
      cancel = use(outcome);
    };
    let cancel = connect(request.target.address, begin, counts);
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

function sendSecurely(request: HttpRequest, options: Omit<WholeOptions, "signal">, done: Done<HttpAnswer>): Cancel {
  const controller = new AbortController();
  const { signal } = controller;
  import("../../shared/http/fetch.ts") // few need it
    .then(({ fetchWhole }) => fetchWhole(request, { ...options, signal }))
    .then(done, (error) => {
      if (!signal.aborted) done(error);
    });
  return () => controller.abort();
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
