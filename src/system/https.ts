import { describeTarget } from "../core/address.ts";
import type { HttpAnswer, HttpRequest } from "../core/http-message.ts";
import { RequestFailed } from "./request-failed.ts";

/** One request over TLS. Redirects are not followed. */
export async function requestSecurely(request: HttpRequest, signal: AbortSignal): Promise<HttpAnswer> {
  const { request: undici } = await import("undici"); // few need it
  try {
    const answer = await undici(describeTarget(request.target), {
      method: request.method as "GET",
      headers: Object.fromEntries(request.headers),
      signal,
    });
    const headers = Object.entries(answer.headers).map(([name, value]) => [name, String(value)] as const);
    return {
      status: answer.statusCode,
      headers: new Map(headers),
      body: await answer.body.text(),
      isReusable: false,
    };
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    const { code, message } = error as NodeJS.ErrnoException;
    throw new RequestFailed(code === "ECONNREFUSED" ? "refused" : "broken", `${message}${code ? ` (${code})` : ""}`);
  }
}
