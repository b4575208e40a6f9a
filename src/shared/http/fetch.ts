import { type HttpTarget, hostsToDial, nameIn } from "../core/address.ts";
import { formatHostPort } from "../core/host-port.ts";
import { redactUrls } from "../core/redact.ts";
import { describeSystemError, errorTexts } from "../core/system-error.ts";
import { readStreamWithin } from "../io/input.ts";
import { deadline } from "../io/timer.ts";
import { type Connection, connect, lookUpHost, promised, type TcpAddress } from "./connection.ts";
import type { Header, HttpAnswer } from "./core/http-framing.ts";
import { basicCredentials, type HttpRequest } from "./core/http-message.ts";
import { latin1 } from "./latin1.ts";
import { REFUSED, RequestFailed, tooLong } from "./request-failed.ts";
import { tcpCheck } from "./tcp-check.ts";
import { trustOptions } from "./trust.ts";

// Bun's fetch, for all that is off the start path: TLS, any URL, bodies of bytes. It takes a CA, a client certificate and
// a proxy for each request, keeps connections apart by them, and reuses them (measured: 0.3 ms a request, memory flat over
// thousands). Every pod waits for http.ts alone.

/** What a request is, beside where it goes. Its own headers win over ebb's. */
interface FetchOptions extends Pick<HttpRequest, "method" | "headers"> {
  readonly content?: string | Uint8Array<ArrayBuffer> | undefined;
  /** By default a redirect is an answer like any other. It is never followed. */
  readonly redirect?: "error";
  /** Whether the body may come compressed, and is decompressed. By default it is as the server sent it. */
  readonly decompress?: boolean;
  readonly tls?: Bun.TLSOptions | undefined;
  /** The URL of a forward proxy. */
  readonly proxy?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /**
   * The limit, in ms, of the time that the server takes in all, its body included, but not of the time that the reader of
   * the body takes between two pieces. Undefined: none.
   */
  readonly timeMs?: number | undefined;
}

/** An answer whose head has come, and whose body may still be on its way. */
export interface StreamedAnswer {
  readonly status: number;
  /** The reason phrase; empty if the server gave none. */
  readonly statusText: string;
  /** Names are in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  /** The body as it comes. Throws as the request does if it breaks off, or time is up. */
  readonly body: AsyncIterable<Uint8Array>;
}

export interface FetchedAnswer extends StreamedAnswer {
  /** Gives up the body, which nobody has begun to read. */
  cancel(): Promise<void>;
}

/**
 * Sends one request to a URL, or to a target, whose name is looked up as the app does, and resolves with the answer once
 * its head has come. Rejects with RequestFailed, or with the signal's reason if that is aborted.
 */
export async function fetchWithin(target: string | HttpTarget, options: FetchOptions): Promise<FetchedAnswer> {
  const { signal, timeMs = Number.POSITIVE_INFINITY } = options;
  const limit = createLimit(timeMs);
  const failureOf = (error: unknown): unknown => {
    if (signal?.aborted) return signal.reason;
    return limit.signal.aborted ? new RequestFailed("late", errorTexts.ETIMEDOUT) : requestFailed(error);
  };
  const end = signal === undefined ? limit.signal : AbortSignal.any([signal, limit.signal]);
  limit.start();
  try {
    const response = await (typeof target === "string" ? send(target, options, end) : sendToAny(target, options, end));
    return {
      status: response.status,
      statusText: response.statusText,
      headers: new Map(response.headers),
      body: piecesOf(response, limit, failureOf),
      cancel: async () => await response.body?.cancel(),
    };
  } catch (error) {
    throw failureOf(error);
  } finally {
    limit.stop();
  }
}

/** Reads a body to its end. Rejects as the body does, and with RequestFailed if it is longer than `mostBytes`. */
export function readBodyWithin(body: AsyncIterable<Uint8Array>, mostBytes: number): Promise<Buffer> {
  return readStreamWithin(body, mostBytes, (most) => new RequestFailed("broken", tooLong(most)));
}

export interface WholeOptions {
  /** The most bytes of a body, if `onBody` does not take it. */
  readonly maxAnswer: number;
  /** Takes the body, of any length, as latin1 text in pieces: that of the answer is then empty. */
  readonly onBody?: ((text: string) => void) | undefined;
  readonly signal: AbortSignal;
}

/**
 * Sends one request by `fetchWithin`, and resolves with the whole answer. Rejects as that does, and with RequestFailed if
 * the body is longer than `maxAnswer` bytes.
 */
export async function fetchWhole(request: HttpRequest, options: WholeOptions): Promise<HttpAnswer> {
  const { maxAnswer, onBody, signal } = options;
  const { status, headers, body } = await fetchWithin(request.target, { ...request, signal });
  if (onBody === undefined)
    return { status, headers, body: (await readBodyWithin(body, maxAnswer)).toString(), isReusable: false };
  for await (const piece of body) onBody(latin1(piece));
  return { status, headers, body: "", isReusable: false };
}

type Limit = ReturnType<typeof createLimit>;

/** Creates a time limit that can be stopped and started again. */
function createLimit(ms: number) {
  const controller = new AbortController();
  let leftMs = ms;
  let since = 0;
  let cancel = (): void => undefined;
  return {
    signal: controller.signal,
    start(): void {
      since = performance.now();
      cancel = deadline(leftMs, () => controller.abort());
    },
    stop(): void {
      cancel();
      leftMs -= performance.now() - since;
    },
  };
}

async function* piecesOf(
  { body }: Response,
  limit: Limit,
  failureOf: (error: unknown) => unknown,
): AsyncGenerator<Uint8Array> {
  limit.start();
  try {
    for await (const piece of body ?? []) {
      limit.stop();
      yield piece;
      limit.start();
    }
  } catch (error) {
    throw failureOf(error);
  } finally {
    limit.stop();
  }
}

/** Tries both loopbacks for `localhost`, and of other names the address that accepts a connection first. */
async function sendToAny(target: HttpTarget, given: FetchOptions, signal: AbortSignal): Promise<Response> {
  const { address, authority, isSecure, path } = target;
  const credentials = basicCredentials({ target, headers: given.headers });
  const own: readonly Header[] = [["Host", authority], ...(credentials === undefined ? [] : [credentials])];
  const options = { ...given, headers: withOwn(own, given.headers) };
  if (address.kind === "unix") return send(`http://localhost${path}`, options, signal, address.path);
  const { host, port } = address;
  const hosts = host === "localhost" ? hostsToDial(address) : [await ipOf(address, signal)];
  let failure: unknown;
  for (const [at, ip] of hosts.entries()) {
    const state = at === 0 ? "open" : tcpCheck(ip, port);
    if (state === "refused") failure = new RequestFailed("refused", REFUSED);
    if (state !== "open" && state !== "silent") continue;
    const url = `http${isSecure ? "s" : ""}://${formatHostPort(ip, port)}${path}`;
    try {
      // the certificate must be the host's all the same
      const named = host === ip ? {} : { serverName: host };
      const tls = isSecure ? { ...trustOptions(), ...given.tls, ...named } : given.tls;
      return await send(url, { ...options, tls }, signal);
    } catch (error) {
      if (kindOf(error) === "broken") throw error;
      failure ??= error;
    }
  }
  throw failure;
}

/** Resolves with an IP address of the host: of several with the first that accepts, because fetch is given one. */
async function ipOf(address: TcpAddress, signal: AbortSignal): Promise<string> {
  const isName = nameIn(address) !== undefined;
  const found = isName ? await promised<TcpAddress>(signal, (done) => lookUpHost(address, done)) : address;
  const [ip = "", ...others] = hostsToDial(found);
  if (others.length === 0) return ip;
  const { socket } = await promised<Connection>(signal, (done) => connect(found, done));
  const { remoteAddress } = socket; // it is gone with the connection
  socket.end();
  return remoteAddress;
}

/** Sends it; by the socket `unix`, if it is given. */
async function send(url: string, options: FetchOptions, signal: AbortSignal, unix?: string): Promise<Response> {
  const { method, headers, content, redirect = "manual", decompress = false, tls, proxy } = options;
  const { fetch } = (await import("undici")) as unknown as { readonly fetch: typeof Bun.fetch }; // few need it
  const own: Header[] = [["User-Agent", "ebb"]];
  return fetch(url, {
    ...{ method, redirect, decompress, signal },
    headers: withOwn(decompress ? own : [...own, ["Accept-Encoding", "identity"]], headers) as [string, string][],
    timeout: false, // not Bun's own, after 5 to 6 minutes without a byte: a watch of what does not change is that quiet
    ...(tls && { tls }),
    ...(content !== undefined && { body: content }),
    ...(proxy !== undefined && { proxy }),
    ...(unix !== undefined && { unix }),
  });
}

/** Returns a request's headers, and before them those of ebb's that it does not have. */
function withOwn(own: readonly Header[], headers: readonly Header[]): readonly Header[] {
  const given = new Set(headers.map(([name]) => name.toLowerCase()));
  return [...own.filter(([name]) => !given.has(name.toLowerCase())), ...headers];
}

function requestFailed(error: unknown): RequestFailed {
  if (error instanceof RequestFailed) return error;
  return new RequestFailed(kindOf(error), redactUrls(describeSystemError(error)), codeOf(error));
}

function kindOf(error: unknown): "refused" | "unreachable" | "broken" {
  const code = codeOf(error) ?? "";
  if (code === "ECONNREFUSED") return "refused";
  return notThere.includes(code) ? "unreachable" : "broken";
}

/** Codes with which nothing was sent. */
const notThere = ["ENOTFOUND", "ENETUNREACH", "EHOSTUNREACH", "EADDRNOTAVAIL", "EAFNOSUPPORT"];

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}
