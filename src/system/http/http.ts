import type { Socket, SocketHandler } from "bun";
import { type Address, hostsToDial } from "../../core/base/address.ts";
import type { HttpAnswer } from "../../core/base/http-framing.ts";
import { createAnswerReader, encodeRequest, type HttpRequest } from "../../core/base/http-message.ts";
import { memoizeLast } from "../../core/base/memoize-last.ts";
import { collectAfterManyBytes } from "../process/memory.ts";
import { requestSecurely } from "./https.ts";
import { latin1 } from "./latin1.ts";
import { RequestFailed } from "./request-failed.ts";

// Our own HTTP/1.1 over Bun.connect for plain http, which is what every pod's start and end wait for: measured beside fetch
// and undici it takes half the processor time, no second thread and a third of the memory, and obeys no proxy variable.
// Callbacks inside, because a wait may ask 110 times a second: promises and abort signals would double what that costs.

/** The bytes of an answer, head and all, beyond which it counts as broken. */
export const MAX_ANSWER = 64 * 1024;
const KIB = 1024;

export const REFUSED = "connection refused";

type Cancel = () => void;
/** Gets an answer's body as it comes: then it may be of any length, and only its beginning is kept. */
export type OnBody = (text: string) => void;
type Done<T> = (outcome: T | RequestFailed) => void;

/** Sends requests to one place, one at a time or several at once, and keeps an idle connection for the next. */
export interface HttpClient extends Disposable {
  /** The last answer. */
  last(): ReceivedAnswer | undefined;
  /** Calls once: with a complete answer, or with why there is none; never, after it was cancelled. */
  send(request: HttpRequest, done: Done<HttpAnswer>, onBody?: OnBody): Cancel;
  /** @throws RequestFailed; the signal's reason when it is aborted */
  request(request: HttpRequest, signal: AbortSignal, onBody?: OnBody): Promise<HttpAnswer>;
}

/** Connections that are neither open nor refused, those that were cancelled among them: Bun cannot end them before. */
export interface Pending {
  count: number;
}

export interface ClientOptions {
  /** Where it is not MAX_ANSWER. */
  readonly maxAnswer?: number | undefined;
  /** Is kept up to date. */
  readonly pending?: Pending | undefined;
}

interface Connection {
  readonly socket: Socket<undefined>;
  receive: (text: string, isEnd: boolean) => void;
}

/** An answer as it came. */
export interface ReceivedAnswer {
  readonly text: string;
  readonly answer: HttpAnswer;
}

/**
 * Creates a client that keeps one connection to the last server. Its requests reject with RequestFailed; an answer has at most
 * `maxAnswer` bytes.
 */
export function createHttpClient({ maxAnswer = MAX_ANSWER, pending }: ClientOptions = {}): HttpClient {
  let idle: Connection | undefined;
  let last: ReceivedAnswer | undefined;
  const encode = memoizeLast(encodeRequest);
  const park = (connection: Connection): void => {
    idle = connection;
    connection.receive = () => {
      // it ended, or says something that nobody asked for
      if (idle === connection) idle = undefined;
      connection.socket.end();
    };
  };
  const send = (request: HttpRequest, done: Done<HttpAnswer>, onBody?: OnBody): Cancel => {
    if (request.target.isSecure) return sendSecurely(request, maxAnswer, done);
    const use = (connection: Connection): Cancel =>
      exchange({ connection, request, encode, last, maxAnswer, onBody }, (outcome) => {
        if (outcome instanceof RequestFailed) {
          connection.socket.terminate();
          return done(outcome);
        }
        if (onBody === undefined) last = outcome;
        if (outcome.answer.isReusable && idle === undefined) park(connection);
        else connection.socket.end();
        done(outcome.answer);
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
    last: () => last,
    send,
    request: (request, signal, onBody) => promised(signal, (done) => send(request, done, onBody)),
    [Symbol.dispose]() {
      idle?.socket.end();
      idle = undefined;
    },
  };
}

/** Calls `done` when something accepts connections at an address, or with why not. */
export function connectAndClose(address: Address, done: Done<undefined>, pending?: Pending): Cancel {
  const end = (outcome: Connection | RequestFailed): void => {
    if (outcome instanceof RequestFailed) return done(outcome);
    outcome.socket.end();
    done(undefined);
  };
  return connect(address, end, pending);
}

/** Whether anything accepts connections there. @throws RequestFailed when not; the signal's reason when it is aborted */
export function tryConnect(address: Address, signal: AbortSignal): Promise<undefined> {
  return promised(signal, (done) => connectAndClose(address, done));
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

function sendSecurely(request: HttpRequest, maxAnswer: number, done: Done<HttpAnswer>): Cancel {
  const controller = new AbortController();
  requestSecurely(request, maxAnswer, controller.signal).then(done, (error) => {
    if (!controller.signal.aborted) done(error);
  });
  return () => controller.abort();
}

/** `localhost` is both loopbacks; where neither accepts, what the first said. */
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
  const settle = (): void => {
    if (isPending) pending.count -= 1;
    isPending = false;
  };
  const fail = (error: unknown): void => {
    settle();
    if (!isOver) done(connectFailure(error));
    isOver = true;
  };
  const onEnd = () => connection?.receive("", true);
  const socket: SocketHandler<undefined> = {
    open(socket) {
      settle();
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
  /** The answer before: the same bytes mean the same again. */
  readonly last: ReceivedAnswer | undefined;
  readonly maxAnswer: number;
  readonly onBody: OnBody | undefined;
}

function exchange(
  { connection, request, encode, last, maxAnswer, onBody }: Exchange,
  done: Done<ReceivedAnswer>,
): Cancel {
  let text = "";
  const reader = createAnswerReader(request.method, onBody);
  const end = (outcome: ReceivedAnswer | RequestFailed): void => {
    connection.receive = () => undefined;
    done(outcome);
  };
  connection.receive = (more, isEnd) => {
    if (onBody === undefined) {
      text += more;
      if (text === last?.text && !isEnd) return end(last);
      if (text.length > maxAnswer) return end(new RequestFailed("broken", tooLong(maxAnswer)));
    } else collectAfterManyBytes(more.length);
    const parsed = reader.take(more, isEnd);
    if (parsed.kind === "garbage") end(new RequestFailed("broken", parsed.reason));
    if (parsed.kind === "answer") end({ text, answer: parsed.answer });
  };
  connection.socket.write(encode(request));
  return () => {
    connection.receive = () => undefined;
    connection.socket.terminate();
  };
}

/** Formats `an answer longer than 64 KiB`. */
export function tooLong(maxAnswer: number): string {
  const kib = maxAnswer / KIB;
  return `an answer longer than ${kib < KIB ? `${kib} KiB` : `${kib / KIB} MiB`}`;
}
