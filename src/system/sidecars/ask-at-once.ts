import { type Address, hostsToDial } from "../../core/base/address.ts";
import type { HttpAnswer } from "../../core/base/http-framing.ts";
import { createAnswerReader, encodeRequest, type HttpRequest, parseAnswer } from "../../core/base/http-message.ts";
import { MAX_ANSWER, type OnBody, tooLong } from "../http/http.ts";
import { REFUSED, RequestFailed } from "../http/request-failed.ts";
import { ERRNO } from "../native/errno.ts";
import { native } from "../native/native.ts";
import { collectAfterManyBytes } from "../process/memory.ts";

/**
 * How long ebb blocks. A proxy on loopback answers within 0.1 ms; one that is slower is asked again, without blocking.
 */
const PATIENCE_MS = 3;
const LONGEST_REST_MS = 5;

/**
 * Sends a request to a server in this pod and returns its answer. Blocks for at most 3 ms (`PATIENCE_MS`). Returns
 * undefined if no valid answer comes by then, or the target is not plain HTTP on loopback or a Unix socket: use the
 * HTTP client then. The server may have got the request, so only send one that may be repeated.
 *
 * A start that finds its sidecar ready needs no event loop, no timers and no connection of Bun's: that saves 0.7 ms
 * (measured).
 */
export function askAtOnce(request: HttpRequest, maxAnswer = MAX_ANSWER): HttpAnswer | undefined {
  const { address, isSecure } = request.target;
  const connection = isSecure ? -1 : send(address, encodeRequest(request));
  if (connection < 0) return undefined;
  const answer = answerOver(connection, request.method, maxAnswer);
  native.close(connection);
  return answer;
}

/**
 * Sends a request to a server in this pod by a plain socket, and resolves with its answer. When this returns the
 * request has been sent; then ebb blocks for at most 3 ms (`PATIENCE_MS`), and polls without blocking after that.
 * Returns undefined if the target is not plain HTTP on loopback or a Unix socket, or nothing could be sent: use the
 * HTTP client then. Rejects as `HttpClient.request` does, also for an answer above MAX_ANSWER bytes. With `onBody` the
 * body may have any length.
 *
 * Without an event loop it saves 0.3 ms (measured). Bun's own sockets keep half a megabyte for each piece of a body.
 */
export function askDirectly(
  request: HttpRequest,
  signal: AbortSignal,
  onBody?: OnBody,
): Promise<HttpAnswer> | undefined {
  const { address, isSecure } = request.target;
  const connection = isSecure ? -1 : send(address, encodeRequest(request));
  if (refusals.includes(-connection)) return Promise.reject(new RequestFailed("refused", REFUSED));
  return connection < 0 ? undefined : hear(connection, request.method, { signal, onBody });
}

const refusals: readonly number[] = [ERRNO.ECONNREFUSED, ERRNO.ENOENT];

interface Hearing {
  readonly signal: AbortSignal;
  readonly onBody: OnBody | undefined;
}

async function hear(connection: number, method: string, { signal, onBody }: Hearing): Promise<HttpAnswer> {
  await undefined; // so that all requests of the same moment are sent first
  const reader = createAnswerReader(method, onBody);
  let length = 0;
  let withinMs = PATIENCE_MS;
  try {
    for (let restMs = 1; ; ) {
      signal.throwIfAborted();
      const piece = native.receive(connection, withinMs);
      withinMs = 0;
      length += piece?.length ?? 0;
      if (onBody === undefined && length > MAX_ANSWER) throw new RequestFailed("broken", tooLong(MAX_ANSWER));
      const parsed = reader.take(piece ?? "", piece === "");
      if (parsed.kind === "garbage") throw new RequestFailed("broken", parsed.reason);
      if (parsed.kind === "answer") return parsed.answer;
      const isMuch = piece !== undefined && collectAfterManyBytes(piece.length);
      if (piece === undefined || isMuch) await Bun.sleep(isMuch ? 0 : restMs); // signals and timers are heard meanwhile
      restMs = Math.min(restMs * 1.2, LONGEST_REST_MS);
    }
  } finally {
    native.close(connection);
  }
}

/** Parses what has come so far. Returns undefined if more is needed. */
function answerIn(text: string, isEnd: boolean, method: string, max: number): HttpAnswer | RequestFailed | undefined {
  if (text.length > max) return new RequestFailed("broken", tooLong(max));
  const parsed = parseAnswer(text, isEnd, method);
  if (parsed.kind === "garbage") return new RequestFailed("broken", parsed.reason);
  return parsed.kind === "answer" ? parsed.answer : undefined;
}

/** Connects and sends. Returns the connection's descriptor, or -errno. */
function send(address: Address, text: string): number {
  if (address.kind === "unix") return native.ask(address.path, 0, text);
  let connection = -1;
  for (const host of hostsToDial(address.host)) if (connection < 0) connection = native.ask(host, address.port, text);
  return connection;
}

function answerOver(connection: number, method: string, maxAnswer: number): HttpAnswer | undefined {
  const end = performance.now() + PATIENCE_MS;
  let text = "";
  for (;;) {
    const piece = native.receive(connection, Math.max(0, Math.ceil(end - performance.now())));
    if (piece === undefined) return undefined;
    text += piece;
    const answer = answerIn(text, piece === "", method, maxAnswer);
    if (answer instanceof RequestFailed) return undefined;
    if (answer !== undefined || performance.now() > end) return answer;
  }
}
