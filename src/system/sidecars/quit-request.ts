import type { Header, HttpAnswer } from "../../core/base/http-framing.ts";
import type { HttpRequest } from "../../core/base/http-message.ts";
import type { QuitRequest } from "../../core/sidecars/sidecar.ts";
import { createHttpClient } from "../http/http.ts";

/**
 * Sends one request and resolves with its answer. Rejects with RequestFailed, or with the signal's reason if that is
 * aborted.
 */
export type Ask = (request: HttpRequest, signal: AbortSignal) => Promise<HttpAnswer>;

/**
 * Sends one request over a connection of its own and resolves with the whole answer. Rejects with RequestFailed, or
 * with the signal's reason if that is aborted. Has no other time limit.
 */
export async function askServer(request: HttpRequest, signal: AbortSignal): Promise<HttpAnswer> {
  using client = createHttpClient();
  return await client.request(request, signal);
}

/** Returns the user's headers (`given`), and after them those of the quit's own that the user has not set. */
export function headersOf({ headers: own = [] }: QuitRequest, given: readonly Header[]): HttpRequest["headers"] {
  const names = new Set(given.map(([name]) => name.toLowerCase()));
  return [...given, ...own.filter(([name]) => !names.has(name.toLowerCase()))];
}
