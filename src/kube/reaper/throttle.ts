import type { Backoff } from "../../core/cluster/backoff.ts";
import { admit, type Circuit, type CircuitPolicy, closed, record } from "../../core/cluster/circuit.ts";
import { fullBucket, giveBack, type Rate, take } from "../../core/cluster/rate-limit.ts";
import type { Log } from "../../system/output/log.ts";
import { ApiError, isTransient } from "../api/api-error.ts";
import type { ApiClient, KubeObject, WatchEvent } from "../api/client.ts";
import type { Query } from "../api/query.ts";
import type { RequestOptions } from "../api/retry.ts";
import { pause } from "../controller/pause.ts";

/** A rate limit and a circuit breaker for requests to the API server. */
export interface Gate {
  /** Whether the circuit is open or half-open: the API server fails, so requests wait. */
  readonly isOpen: boolean;
  /** Waits for a turn by the rate. Rejects with the signal's reason when the signal is aborted. */
  turn(signal?: AbortSignal): Promise<void>;
  /** Waits for a turn, and while the circuit is open. The caller has to tell the result once. Rejects like `turn`. */
  pass(signal?: AbortSignal): Promise<Passed>;
}

/** Takes the result of a request that passed. */
export interface Passed {
  answered(): void;
  failed(error: unknown): void;
}

const rest: Backoff = { firstMs: 1000, longestMs: 30_000 };
const circuitPolicy: CircuitPolicy = { failures: 5, rest };
const never = new AbortController().signal;

/**
 * Creates the rate limit and circuit breaker of the reaper's requests. After `policy.failures` (5) failures in a row
 * that may pass, no request is sent for 0.5 to 30 s; then one is, as a probe. The log says when the circuit opens and
 * closes.
 */
export function createGate(rate: Rate, log: Log, policy: CircuitPolicy = circuitPolicy): Gate {
  let bucket = fullBucket(rate, performance.now());
  let circuit: Circuit = closed;
  let moved = new AbortController();
  const moveTo = (next: Circuit, reason?: string): void => {
    const before = circuit;
    circuit = next;
    if (next.state === "closed" && before.state !== "closed") log.info({}, "the API server answers again: continuing");
    if (next.state === "open" && before.state === "closed") {
      const pauseMs = Math.round(next.until - performance.now());
      log.warn({ reason, pauseMs }, "the API server fails: pausing requests");
    }
    if (next.state === before.state) return;
    moved.abort();
    moved = new AbortController();
  };
  const turn = async (signal: AbortSignal = never): Promise<void> => {
    signal.throwIfAborted();
    const [next, waitMs] = take(bucket, rate, performance.now());
    bucket = next;
    if (waitMs > 0) await pause(waitMs, signal);
    if (signal.aborted) bucket = giveBack(bucket, rate);
    signal.throwIfAborted();
  };
  const settle = (ok: boolean, reason?: string): void =>
    moveTo(record(circuit, policy, { ok, now: performance.now(), chance: Math.random() }), reason);
  return {
    get isOpen() {
      return circuit.state !== "closed";
    },
    turn,
    async pass(signal = never) {
      await turn(signal);
      for (;;) {
        signal.throwIfAborted();
        const [next, admission] = admit(circuit, performance.now());
        moveTo(next);
        if (admission.passes) break;
        await pause(admission.waitMs ?? rest.longestMs, AbortSignal.any([signal, moved.signal]));
      }
      return {
        answered: () => settle(true),
        failed(error) {
          if (error instanceof ApiError) return settle(!isTransient(error), error.message);
          // it was given up or never sent, which says nothing: another request may be the probe
          if (circuit.state === "half-open") moveTo({ ...circuit, state: "open", until: performance.now() });
        },
      };
    },
  };
}

/** Takes the result of each request, for metrics: its status, or the reason if there was none. */
export type Answered = (verb: string, code: string) => void;

/**
 * Wraps an API client so that each request passes the gate, but streams, whose callers wait for `gate.turn` themselves.
 * Its requests are never tried again, whatever `retries` says. `answered` is called after each request and watch.
 */
export function throttleClient(api: ApiClient, gate: Gate, answered: Answered = () => undefined): ApiClient {
  const through = async <T>(
    verb: string,
    asking: RequestOptions | undefined,
    ask: (one: RequestOptions) => Promise<T>,
  ): Promise<T> => {
    const passed = await gate.pass(asking?.signal);
    try {
      const answer = await ask({ ...asking, retries: 0 });
      passed.answered();
      answered(verb, "200");
      return answer;
    } catch (error) {
      passed.failed(error);
      answered(verb, codeOf(error));
      throw error;
    }
  };
  return {
    ...api,
    get: (path, asking) => through("get", asking, (one) => api.get(path, one)),
    create: (path, body, asking) => through("create", asking, (one) => api.create(path, body, one)),
    update: (path, body, asking) => through("update", asking, (one) => api.update(path, body, one)),
    patch: (path, operations, asking) => through("patch", asking, (one) => api.patch(path, operations, one)),
    delete: (path, asking) => through("delete", asking, (one) => api.delete(path, one)),
    watch: (path, query, signal) => watch(api, { path, query, signal, gate, answered }),
  };
}

interface Watching {
  readonly path: string;
  readonly query: Query;
  readonly signal: AbortSignal;
  readonly gate: Gate;
  readonly answered: Answered;
}

/**
 * Watches after a turn by the rate. A watch may be silent for a minute, so it does not tell the gate that the API
 * server is well.
 */
async function* watch<T = KubeObject>(
  api: ApiClient,
  { path, query, signal, gate, answered }: Watching,
): AsyncGenerator<WatchEvent<T>> {
  await gate.turn(signal);
  try {
    yield* api.watch<T>(path, query, signal);
    answered("watch", "200");
  } catch (error) {
    answered("watch", codeOf(error));
    throw error;
  }
}

function codeOf(error: unknown): string {
  return error instanceof ApiError ? String(error.status ?? error.reason) : "none";
}
