import { withPath } from "../../shared/core/address.ts";
import { errorTexts } from "../../shared/core/system-error.ts";
import type { HttpAnswer } from "../../shared/http/core/http-framing.ts";
import { type FailureKind, RequestFailed } from "../../shared/http/request-failed.ts";
import { judgeStatus } from "../../shared/sidecars/core/probe.ts";
import type { Sidecar } from "../../shared/sidecars/core/sidecar.ts";
import { createHttpClient, type OnBody } from "../http/http.ts";

/** The limit of each request: pilot-agent's (istio pkg/envoy/admin.go). */
const ADMIN_REQUEST_MS = 2000;
/** The limit of an answer that is read as it comes, as long as it comes, and the longest of any other. */
const LONGEST_MS = 10_000;
/**
 * The limit, in bytes, of an answer that is held: the configuration of some 800 listeners, the statistics of
 * thousands. What a longer one says counts as not known.
 */
export const MAX_ADMIN_ANSWER = 4 * 1024 * 1024;

/** Where an Envoy's admin interface is, and the user's headers for it. */
export type EnvoyTarget = Pick<NonNullable<Sidecar["envoy"]>, "admin" | "headers">;

/** The reason why there is no answer, or why it is not a 2xx. */
export interface NoAnswer {
  readonly reason: string;
  /** Whether the connection was refused. */
  readonly isRefused: boolean;
  /** Whether the connection was accepted, and no valid answer came. */
  readonly isBroken: boolean;
}

/**
 * A client of an Envoy's admin interface. Its requests resolve with a 2xx answer, or with the reason why there is none.
 */
export interface EnvoyAdmin extends Disposable {
  /** The limit of each request. */
  readonly limitMs: number;
  get(path: string): Promise<HttpAnswer | NoAnswer>;
  /** Passes the answer's body to `onBody` as it comes. The answer that it resolves with has only its beginning. */
  getPieces(path: string, onBody: OnBody): Promise<HttpAnswer | NoAnswer>;
  post(path: string): Promise<HttpAnswer | NoAnswer>;
}

/**
 * Returns the limit of each request of a drain of `drainMs`: a slow Envoy does what it is asked all the same, so it gets
 * a tenth of the time, 2 s at least (`ADMIN_REQUEST_MS`), 10 s at most (`LONGEST_MS`).
 */
export function drainRequestMs(drainMs: number): number {
  return Math.min(LONGEST_MS, Math.max(ADMIN_REQUEST_MS, drainMs / 10));
}

/**
 * Creates a client of an Envoy's admin interface. A request has `limitMs`, by default 2 s (`ADMIN_REQUEST_MS`);
 * `getPieces` has that after each piece, 10 s in all (`LONGEST_MS`). All requests reject with the signal's reason if
 * that is aborted.
 */
export function connectAdmin(
  { admin, headers = [] }: EnvoyTarget,
  signal: AbortSignal,
  limitMs = ADMIN_REQUEST_MS,
): EnvoyAdmin {
  const client = createHttpClient({ maxAnswer: MAX_ADMIN_ANSWER });
  const send = async (method: string, path: string, onBody?: OnBody): Promise<HttpAnswer | NoAnswer> => {
    const patience = createPatience(limitMs);
    const limit = patience.signal;
    const onPiece =
      onBody &&
      ((text: string): void => {
        patience.renew();
        onBody(text);
      });
    const request = { method, target: withPath(admin, path), headers };
    try {
      const answer = await client.request(request, AbortSignal.any([signal, limit]), onPiece);
      const verdict = judgeStatus(answer);
      return verdict.ready ? answer : noAnswer(verdict.reason);
    } catch (error) {
      if (error instanceof RequestFailed) return noAnswer(error.message, error.kind);
      if (signal.aborted || !limit.aborted) throw error;
      return noAnswer(errorTexts.ETIMEDOUT);
    } finally {
      patience.end();
    }
  };
  return {
    limitMs,
    get: (path) => send("GET", path),
    getPieces: (path, onBody) => send("GET", path, onBody),
    post: (path) => send("POST", path),
    [Symbol.dispose]: () => client[Symbol.dispose](),
  };
}

function noAnswer(reason: string, kind?: FailureKind): NoAnswer {
  return { reason, isRefused: kind === "refused", isBroken: kind === "broken" };
}

/** Creates a request's time limit, which is extended while pieces arrive: a mesh with many clusters sends many. */
function createPatience(limitMs: number) {
  const controller = new AbortController();
  const last = performance.now() + LONGEST_MS;
  let until = performance.now() + limitMs;
  let timer: Timer;
  const arm = (): void => {
    const left = until - performance.now();
    if (left > 0) timer = setTimeout(arm, Math.ceil(left));
    else controller.abort();
  };
  arm();
  return {
    signal: controller.signal,
    renew(): void {
      until = Math.min(last, performance.now() + limitMs);
    },
    end: () => clearTimeout(timer),
  };
}

/** Reports whether Envoy's admin interface has answered with a 2xx. */
export function isAnswer(outcome: HttpAnswer | NoAnswer): outcome is HttpAnswer {
  return "status" in outcome;
}
