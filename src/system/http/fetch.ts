import { type HttpTarget, hostsToDial, nameIn } from "../../core/base/address.ts";
import { formatHostPort } from "../../core/base/host-port.ts";
import type { Header, HttpAnswer } from "../../core/base/http-framing.ts";
import { basicCredentials, type HttpRequest } from "../../core/base/http-message.ts";
import { redactUrls } from "../../core/base/redact.ts";
import { describeSystemError, errorTexts } from "../../core/base/system-error.ts";
import { deadline } from "../timer.ts";
import { type Connection, connect, lookUpHost, promised, type TcpAddress } from "./connection.ts";
import { latin1 } from "./latin1.ts";
import { REFUSED, RequestFailed, tooLong } from "./request-failed.ts";
import { tcpCheck } from "./tcp-check.ts";

// undici's fetch, which is Bun's own, for what is off the start path: TLS, any URL, bodies of bytes. Every pod waits for
// http.ts alone.

/** A request for fetch. Its own headers win over ebb's. */
export interface StreamedRequest extends Omit<HttpRequest, "content"> {
  readonly content?: string | Uint8Array<ArrayBuffer> | undefined;
}

/** An answer whose head has come, and whose body may still be on its way. */
export interface StreamedAnswer {
  readonly status: number;
  /** The reason phrase; empty if the server gave none. */
  readonly statusText: string;
  /** Names are in lower case. A redirect is not followed. */
  readonly headers: ReadonlyMap<string, string>;
  /** The body as it comes, byte for byte, not decompressed. Throws RequestFailed if it breaks off, or time is up. */
  readonly body: AsyncIterable<Uint8Array>;
}

/**
 * Sends one request by fetch, follows no redirect, and resolves with the answer once its head has come. Rejects
 * with RequestFailed. `timeoutMs` limits the time that the server takes in all, its body included, but not the time
 * that the reader of the body takes between two pieces.
 */
export async function fetchStreamed(request: StreamedRequest, timeoutMs: number): Promise<StreamedAnswer> {
  const limit = createLimit(timeoutMs);
  limit.start();
  try {
    const response = await fetchFromAny(request, limit.signal);
    return {
      status: response.status,
      statusText: response.statusText,
      headers: new Map(response.headers),
      body: piecesOf(response, limit),
    };
  } catch (error) {
    throw failureOf(error, limit.signal);
  }
}

export interface WholeOptions {
  /** The most bytes of a body, if `onBody` does not take it. */
  readonly maxAnswer: number;
  /** Takes the body, of any length, as latin1 text in pieces: that of the answer is then empty. */
  readonly onBody?: ((text: string) => void) | undefined;
  readonly signal: AbortSignal;
}

/**
 * Sends one request by fetch, follows no redirect, and resolves with the whole answer. Rejects with RequestFailed, also
 * if the body is longer than `maxAnswer` bytes, or with the signal's reason if that is aborted.
 */
export async function fetchWhole(request: HttpRequest, options: WholeOptions): Promise<HttpAnswer> {
  const { maxAnswer, onBody, signal } = options;
  try {
    const response = await fetchFromAny(request, signal);
    const decoder = new TextDecoder();
    let body = "";
    let size = 0;
    for await (const piece of response.body ?? []) {
      size += piece.length;
      if (onBody !== undefined) onBody(latin1(piece));
      else if (size > maxAnswer) throw new RequestFailed("broken", tooLong(maxAnswer));
      else body += decoder.decode(piece, { stream: true });
    }
    return {
      status: response.status,
      headers: new Map(response.headers),
      body: body + decoder.decode(),
      isReusable: false,
    };
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw failureOf(error, signal);
  }
}

/** A time limit that can be stopped and started again. */
interface Limit {
  readonly signal: AbortSignal;
  start(): void;
  stop(): void;
}

function createLimit(ms: number): Limit {
  const controller = new AbortController();
  let leftMs = ms;
  let since = 0;
  let cancel = (): void => undefined;
  return {
    signal: controller.signal,
    start() {
      since = performance.now();
      cancel = deadline(leftMs, () => controller.abort());
    },
    stop() {
      cancel();
      leftMs -= performance.now() - since;
    },
  };
}

/** Tries both loopbacks for `localhost`, and of other names the address that accepts a connection first. */
async function fetchFromAny(request: StreamedRequest, signal: AbortSignal): Promise<Response> {
  const { address } = request.target;
  if (address.kind === "unix") return fetchFrom(request, undefined, signal);
  const { host, port } = address;
  const hosts = host === "localhost" ? hostsToDial(address) : [await ipOf(address, signal)];
  let failure: unknown;
  for (const [at, ip] of hosts.entries()) {
    const state = at === 0 ? "open" : tcpCheck(ip, port);
    if (state === "refused") failure = new RequestFailed("refused", REFUSED);
    if (state !== "open" && state !== "silent") continue;
    try {
      return await fetchFrom(request, ip, signal);
    } catch (error) {
      if (!notThere.includes(codeOf(error))) throw error;
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

/** Sends the request to an IP address of its host. Over TLS, the certificate must be the host's all the same. */
async function fetchFrom(request: StreamedRequest, ip: string | undefined, signal: AbortSignal): Promise<Response> {
  const { fetch } = (await import("undici")) as unknown as { readonly fetch: typeof globalThis.fetch }; // few need it
  const { method, target, content } = request;
  const { address } = target;
  const isNamed = address.kind === "tcp" && target.isSecure && address.host !== ip;
  return fetch(urlOf(target, ip), {
    method,
    headers: headersOf(request) as [string, string][],
    redirect: "manual",
    decompress: false,
    signal,
    timeout: false, // not Bun's own, of 5 minutes: the caller has a limit
    ...(content === undefined ? {} : { body: content }),
    ...(isNamed ? { tls: { serverName: address.host } } : {}),
    ...(address.kind === "unix" ? { unix: address.path } : {}),
  });
}

/** Returns the request's headers, and before them those of ebb's that it does not have. */
function headersOf({ target, headers }: StreamedRequest): readonly Header[] {
  const given = new Set(headers.map(([name]) => name.toLowerCase()));
  const credentials = basicCredentials({ target, headers });
  const own: readonly Header[] = [
    ["Host", target.authority],
    ["User-Agent", "ebb"],
    ["Accept-Encoding", "identity"],
    ...(credentials === undefined ? [] : [credentials]),
  ];
  return [...own.filter(([name]) => !given.has(name.toLowerCase())), ...headers];
}

function urlOf({ address, path, isSecure }: HttpTarget, ip: string | undefined): string {
  if (address.kind === "unix" || ip === undefined) return `http://localhost${path}`;
  return `http${isSecure ? "s" : ""}://${formatHostPort(ip, address.port)}${path}`;
}

async function* piecesOf(response: Response, limit: Limit): AsyncGenerator<Uint8Array> {
  try {
    for await (const piece of response.body ?? []) {
      limit.stop();
      yield piece;
      limit.start();
    }
  } catch (error) {
    throw failureOf(error, limit.signal);
  } finally {
    limit.stop();
  }
}

function failureOf(error: unknown, signal: AbortSignal): RequestFailed {
  if (signal.aborted) return new RequestFailed("late", errorTexts.ETIMEDOUT);
  if (error instanceof RequestFailed) return error;
  const code = codeOf(error);
  const kind = code === "ECONNREFUSED" ? "refused" : notThere.includes(code) ? "unreachable" : "broken";
  return new RequestFailed(kind, redactUrls(describeSystemError(error)));
}

/** Codes with which nothing was sent: the connection was refused, or there is no route. */
const notThere = ["ECONNREFUSED", "ENETUNREACH", "EHOSTUNREACH", "EADDRNOTAVAIL", "EAFNOSUPPORT"];

function codeOf(error: unknown): string {
  return String((error as NodeJS.ErrnoException).code ?? "");
}
