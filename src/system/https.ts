import { originOf } from "../core/address.ts";
import { redactUrls } from "../core/base/redact.ts";
import { basicCredentials, type HttpAnswer, type HttpRequest } from "../core/http-message.ts";
import { RequestFailed } from "./request-failed.ts";

/** One request over TLS. Redirects are not followed. */
export async function requestSecurely(request: HttpRequest, signal: AbortSignal): Promise<HttpAnswer> {
  const { request: undici } = await import("undici"); // few need it
  try {
    const credentials = basicCredentials(request);
    const answer = await undici(originOf(request.target) + request.target.path, {
      method: request.method as "GET",
      headers: Object.fromEntries(credentials === undefined ? request.headers : [...request.headers, credentials]),
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
    const reason = `${redactUrls(message)}${code ? ` (${code})` : ""}`;
    throw new RequestFailed(code === "ECONNREFUSED" ? "refused" : "broken", reason);
  }
}
