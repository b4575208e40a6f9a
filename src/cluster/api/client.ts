import { isObject } from "../../shared/core/json.ts";
import { type FetchedAnswer, fetchWithin, readBodyWithin } from "../../shared/http/fetch.ts";
import { MiB } from "../../shared/io/input.ts";
import type { Log } from "../../shared/output/log.ts";
import { findAccess } from "./access.ts";
import { ApiError, type RequestName, shownPath, toApiError } from "./api-error.ts";
import { createEventReader, type RawEvent } from "./body.ts";
import type { KubeObject } from "./core/objects.ts";
import { type Access, type Surroundings, tlsOf } from "./identity.ts";
import { type Query, withQuery } from "./query.ts";
import { type RequestOptions, withRetries } from "./retry.ts";
import { openStream, type Stream } from "./stream.ts";

// JSON over fetch. @kubernetes/client-node takes 25 MB more memory, 60 ms more to start (measured), and under Bun no CA and
// no client certificate: Bun replaces its undici.

/** The largest answer that is read: a list of 500 objects of 128 KiB. */
const LARGEST_ANSWER = 64 * MiB;
/** The longest line of a watch. An object is at most 3 MiB (k8s.io/apiserver, MaxRequestBodyBytes), as JSON more. */
const LARGEST_OBJECT = 8 * MiB;
const LARGEST_REFUSAL = MiB;

/** A collection, or a page of it: `continue` is the token of the next page, empty or undefined in the last one. */
export interface List<T> {
  readonly metadata: { readonly resourceVersion?: string; readonly continue?: string };
  readonly items: readonly T[];
}

/** @see https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes */
export interface WatchEvent<T> {
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK";
  readonly object: T;
}

/**
 * A client for paths such as `/api/v1/namespaces/x/secrets/y`. Methods reject with ApiError, Failure(69) (no
 * credentials) or the signal's reason; all but `watch` and `stream` first try RETRIES (4) times more if that may help.
 */
export interface ApiClient {
  readonly server: string;
  /** The namespace to use if none is named: the kubeconfig context's, or the pod's own. */
  readonly namespace: string;
  get<T = KubeObject>(path: string, asking?: RequestOptions): Promise<T>;
  /** Creates an object. `path` is its collection's. */
  create<T = KubeObject>(path: string, body: object, asking?: RequestOptions): Promise<T>;
  /** Replaces an object. Rejects with a Conflict (409) if the body's resourceVersion is not the latest. */
  update<T = KubeObject>(path: string, body: object, asking?: RequestOptions): Promise<T>;
  /** Applies a JSON Patch (RFC 6902). */
  patch<T = KubeObject>(path: string, operations: readonly object[], asking?: RequestOptions): Promise<T>;
  /**
   * Yields events until the server ends the stream, after 5 to 10 min. Throws ApiError 410 if the version expired, and
   * ApiError if the stream ends within 1 s (SHORT_MS) without an event.
   */
  watch<T = KubeObject>(path: string, query: Query, signal: AbortSignal): AsyncGenerator<WatchEvent<T>>;
  /** Opens a WebSocket with a subprotocol, for `exec` and `portforward`. */
  stream(path: string, protocol: string, asking?: Pick<RequestOptions, "signal" | "timeoutMs">): Promise<Stream>;
}

const TIMEOUT_MS = 15_000; // of a request that names no other
const WATCH_S = 300; // at least; at most twice as long
const SHORT_MS = 1000; // as client-go has it: tools/cache/reflector.go, VeryShortWatchError

/** Finds the API server, as `findAccess` does and with its failures, and creates a client for it. Sends no request. */
export async function findApiServer(surroundings: Surroundings, log: Log): Promise<ApiClient> {
  return createApiClient(await findAccess(surroundings, log));
}

/** Creates a client of the Kubernetes API. After a 401 it sends a request once more, with fresh credentials. */
export function createApiClient(access: Access): ApiClient {
  const call = <T>(method: string, path: string, asking: RequestOptions = {}, body?: Body): Promise<T> =>
    withRetries(() => requestJson<T>(access, { method, path, body, ...asking }), asking);
  const jsonBody = (value: object): Body => ({ type: "application/json", text: JSON.stringify(value) });
  const patchBody = (value: object): Body => ({ type: "application/json-patch+json", text: JSON.stringify(value) });
  return {
    server: access.server,
    namespace: access.namespace,
    get: (path, asking) => call("GET", path, asking),
    create: (path, body, asking) => call("POST", path, asking, jsonBody(body)),
    update: (path, body, asking) => call("PUT", path, asking, jsonBody(body)),
    patch: (path, operations, asking) => call("PATCH", path, asking, patchBody(operations)),
    watch: (path, query, signal) => watch(access, path, query, signal),
    stream: (path, protocol, { signal, timeoutMs = TIMEOUT_MS } = {}) =>
      openStream(access, {
        ...{ path, protocol, signal, timeoutMs },
        explain: (status) => explainRefusal(access, status, { path, signal }),
      }),
  };
}

interface Body {
  readonly type: string;
  readonly text: string;
}

interface Request extends RequestOptions {
  readonly method: string;
  readonly path: string;
  readonly body?: Body | undefined;
}

async function requestJson<T>(access: Access, asked: Request): Promise<T> {
  const response = await request(access, asked);
  try {
    const answer: unknown = JSON.parse((await readBodyWithin(response.body, LARGEST_ANSWER)).toString());
    if (!hasMetadata(answer)) throw new Error("an answer that is not an API object");
    return answer as T;
  } catch (error) {
    throw toApiError(error, asked, access); // it broke off, say
  }
}

/** Reports whether it looks like an object or list of the API: what a proxy answers in the server's place does not. */
function hasMetadata(value: unknown): boolean {
  return isObject(value) && isObject(value.metadata);
}

/** Sends a request, after a 401 once more with fresh credentials. Rejects with ApiError for other refusals. */
async function request(access: Access, asked: Request): Promise<FetchedAnswer> {
  const response = await send(access, asked, false);
  const final = response.status === 401 ? await send(access, asked, true) : response;
  if (final.status < 300) return final;
  throw await refusal(asked, final);
}

async function send(access: Access, asked: Request, isRefused: boolean): Promise<FetchedAnswer> {
  const { method, path, body, signal, timeoutMs = TIMEOUT_MS } = asked;
  const identity = await access.identity(isRefused);
  const headers = { accept: "application/json", ...(body && { "content-type": body.type }), ...identity.headers };
  try {
    return await fetchWithin(access.server + path, {
      method,
      redirect: "error",
      headers: Object.entries(headers),
      content: body?.text,
      decompress: true, // lists are long, and the server packs them
      tls: tlsOf(access, identity),
      proxy: access.proxy,
      signal,
      timeMs: timeoutMs,
    });
  } catch (error) {
    throw toApiError(error, asked, access);
  }
}

/**
 * Asks for a stream without being able to start one, to reject with the server's reason. The verbs are get and, since
 * Kubernetes 1.35, create (AuthorizePodWebsocketUpgradeCreatePermission); only a POST tells more than `forbidden`.
 */
async function explainRefusal(access: Access, status: number, asked: Omit<Request, "method">): Promise<void> {
  for (const method of ["POST", "GET"]) {
    try {
      await request(access, { ...asked, method });
    } catch (error) {
      if (asked.signal?.aborted || (error instanceof ApiError && error.status === status)) throw error;
    }
  }
}

/** Makes an error of the server's own words, which name verb, resource and user if a permission is missing. */
async function refusal({ method, path }: Request, response: FetchedAnswer): Promise<ApiError> {
  const body = await readBodyWithin(response.body, LARGEST_REFUSAL).catch(() => "");
  const { message, reason } = parseStatus(body.toString());
  const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
  return new ApiError(`${method} ${shownPath(path)}: ${response.status} ${message || response.statusText}`, {
    status: response.status,
    reason: reason ?? (response.statusText || String(response.status)),
    retryAfterMs: Number.isFinite(seconds) ? seconds * 1000 : undefined,
  });
}

/** Reads a `Status` (meta/v1). The first 200 characters of anything else, such as a proxy's HTML, are the message. */
function parseStatus(body: string): { message?: string | undefined; reason?: string | undefined } {
  try {
    const { message, reason } = JSON.parse(body);
    return {
      message: typeof message === "string" ? message : undefined,
      reason: typeof reason === "string" ? reason : undefined,
    };
  } catch {
    return { message: body.replaceAll(/\s+/g, " ").slice(0, 200) };
  }
}

async function* watch<T>(
  access: Access,
  path: string,
  query: Query,
  signal: AbortSignal,
): AsyncGenerator<WatchEvent<T>> {
  const timeoutSeconds = Math.round(WATCH_S * (1 + Math.random()));
  const startedAt = performance.now();
  const asked = withQuery(path, { watch: 1, allowWatchBookmarks: "true", timeoutSeconds, ...query });
  const response = await request(access, {
    method: "GET",
    path: asked,
    signal,
    timeoutMs: (timeoutSeconds + 30) * 1000,
  });
  const watched: RequestName = { method: "GET", path: asked, signal };
  let isEmpty = true;
  for await (const { type, object } of events(response, watched, access)) {
    if (type === "ERROR") {
      const { code, message, reason = "Unknown" } = object as Refusal;
      const same = message?.replace(/: \d+ \(\d+\)$/, ""); // the versions differ from try to try
      throw new ApiError(`GET ${path}: ${same}`, { status: code, reason, retryAfterMs: undefined });
    }
    isEmpty = false;
    yield { type, object } as WatchEvent<T>;
  }
  if (!isEmpty || performance.now() - startedAt >= SHORT_MS) return;
  const none = { status: undefined, reason: "Unreachable", retryAfterMs: undefined };
  throw new ApiError(`GET ${path}: the API server ends the watch at once`, none);
}

interface Refusal {
  readonly code?: number;
  readonly message?: string;
  readonly reason?: string;
}

async function* events(response: FetchedAnswer, asked: RequestName, access: Access): AsyncGenerator<RawEvent> {
  const reader = createEventReader(LARGEST_OBJECT);
  try {
    for await (const chunk of response.body) yield* reader.take(chunk);
  } catch (error) {
    throw toApiError(error, asked, access);
  }
}
