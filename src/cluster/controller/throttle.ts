import { ApiError } from "../api/api-error.ts";
import type { ApiClient, WatchEvent } from "../api/client.ts";
import type { KubeObject } from "../api/core/objects.ts";
import type { Query } from "../api/query.ts";
import type { RequestOptions } from "../api/retry.ts";
import { fullBucket, type Rate, take } from "../core/rate-limit.ts";
import { pause } from "./pause.ts";

/** Waits for the turn of a request. Rejects with the signal's reason when the signal is aborted. */
export type Turn = (signal?: AbortSignal) => Promise<void>;

const never = new AbortController().signal;

/** Creates a rate limit for requests: a token bucket, in which callers keep their order. */
export function createRateLimit(rate: Rate): Turn {
  let bucket = fullBucket(rate, performance.now());
  return async (signal = never) => {
    signal.throwIfAborted();
    const [next, waitMs] = take(bucket, rate, performance.now());
    bucket = next;
    if (waitMs > 0) await pause(waitMs, signal);
    signal.throwIfAborted();
  };
}

/** Takes the result of each request: its status, or the reason if there was none; and the error, if it failed. */
export type Answered = (verb: string, code: string, error?: unknown) => void;

/**
 * Wraps an API client so that each request waits for its turn, and is never tried again, whatever `retries` says.
 * `answered` is called after each request and watch; the verb of a stream is `connect`, as in the API server's metrics.
 */
export function throttleClient(api: ApiClient, turn: Turn, answered: Answered = () => undefined): ApiClient {
  const through = async <T>(
    verb: string,
    asking: RequestOptions | undefined,
    ask: (one: RequestOptions) => Promise<T>,
  ): Promise<T> => {
    await turn(asking?.signal);
    try {
      const answer = await ask({ ...asking, retries: 0 });
      answered(verb, "200");
      return answer;
    } catch (error) {
      answered(verb, codeOf(error), error);
      throw error;
    }
  };
  return {
    ...api,
    get: (path, asking) => through("get", asking, (one) => api.get(path, one)),
    create: (path, body, asking) => through("create", asking, (one) => api.create(path, body, one)),
    update: (path, body, asking) => through("update", asking, (one) => api.update(path, body, one)),
    patch: (path, operations, asking) => through("patch", asking, (one) => api.patch(path, operations, one)),
    stream: (path, protocol, asking) => through("connect", asking, (one) => api.stream(path, protocol, one)),
    async *watch<T = KubeObject>(path: string, query: Query, signal: AbortSignal): AsyncGenerator<WatchEvent<T>> {
      await turn(signal);
      try {
        yield* api.watch<T>(path, query, signal);
        answered("watch", "200");
      } catch (error) {
        answered("watch", codeOf(error), error);
        throw error;
      }
    },
  };
}

function codeOf(error: unknown): string {
  return error instanceof ApiError ? String(error.status ?? error.reason) : "none";
}
