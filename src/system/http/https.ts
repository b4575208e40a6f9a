import { originOf } from "../../core/base/address.ts";
import type { HttpAnswer } from "../../core/base/http-framing.ts";
import { basicCredentials, type HttpRequest } from "../../core/base/http-message.ts";
import { redactUrls } from "../../core/base/redact.ts";
import { latin1 } from "./latin1.ts";
import { REFUSED, RequestFailed } from "./request-failed.ts";

export interface SecureOptions {
  /** The most bytes of a body, if `onBody` does not take it. */
  readonly maxAnswer: number;
  /** Takes the body, of any length, as latin1 text in pieces: that of the answer is then empty. */
  readonly onBody?: ((text: string) => void) | undefined;
  readonly signal: AbortSignal;
}

/**
 * Sends one request over TLS by undici, follows no redirect, and resolves with the whole answer. Rejects with
 * RequestFailed, also if the body is longer than `maxAnswer` bytes, or with the signal's reason if that is aborted.
 */
export async function requestSecurely(
  request: HttpRequest,
  { maxAnswer, onBody, signal }: SecureOptions,
): Promise<HttpAnswer> {
  const { request: undici } = await import("undici"); // few need it
  try {
    const credentials = basicCredentials(request);
    const answer = await undici(originOf(request.target) + request.target.path, {
      method: request.method as "GET",
      headers: Object.fromEntries(credentials === undefined ? request.headers : [...request.headers, credentials]),
      body: request.content ?? null,
      signal,
    });
    const headers = Object.entries(answer.headers).map(([name, value]) => [name, String(value)] as const);
    return {
      status: answer.statusCode,
      headers: new Map(headers),
      body: onBody === undefined ? await textWithin(answer.body, maxAnswer) : await passOn(answer.body, onBody),
      isReusable: false,
    };
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (error instanceof RequestFailed) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ECONNREFUSED") throw new RequestFailed("refused", REFUSED);
    throw new RequestFailed("broken", `${redactUrls(message)}${code ? ` (${code})` : ""}`);
  }
}

async function passOn(body: AsyncIterable<Uint8Array>, onBody: (text: string) => void): Promise<""> {
  for await (const piece of body) onBody(latin1(piece));
  return "";
}

/** Reads a body as UTF-8. Throws RequestFailed if it is too long; to leave the loop ends the connection. */
async function textWithin(body: AsyncIterable<Uint8Array>, mostBytes: number): Promise<string> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of body) {
    size += piece.length;
    if (size > mostBytes) throw new RequestFailed("broken", `an answer longer than ${mostBytes / 1024} KiB`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString("utf8");
}
