import { ApiError } from "../../../../src/cluster/api/api-error.ts";
import { createApiClient } from "../../../../src/cluster/api/client.ts";

export const SECRETS = "/api/v1/namespaces/x/secrets";

/**
 * Starts an HTTP server that gives these answers, in order, then 418. Returns it with a client and the requests so far.
 */
export function serve(...answers: ((request: Request) => Response | Promise<Response>)[]) {
  const requests: string[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    fetch(request) {
      requests.push(`${request.method} ${request.url.slice(server.url.href.length - 1)}`);
      return answers.shift()?.(request) ?? new Response("unexpected", { status: 418 });
    },
  });
  const base = server.url.href.replace(/\/$/, "");
  const identity = async () => ({ headers: { authorization: "Bearer secret" } });
  const api = createApiClient({ server: base, namespace: "x", identity });
  return { api, base, requests, [Symbol.asyncDispose]: () => server.stop(true) };
}

/** Creates an answer for `serve`: a Status, as the API server refuses. */
export const status =
  (code: number, reason: string, message: string, headers = {}) =>
  () =>
    Response.json({ kind: "Status", status: "Failure", code, reason, message }, { status: code, headers });

/** Resolves with the ApiError that a promise rejects with. Rejects if it resolves, or rejects with another error. */
export async function failureOf(promise: Promise<unknown>): Promise<ApiError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ApiError)) throw new Error(`expected an ApiError, got ${error}`);
  return error;
}

/** Returns an object with that resourceVersion. */
export const object = (version: number) => ({ metadata: { name: "y", resourceVersion: String(version) } });

/** Returns a line of a watch: an event of a type about an object. */
export const line = (type: string, what: object) => `${JSON.stringify({ type, object: what })}\n`;
