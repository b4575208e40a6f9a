import { type HttpTarget, withPath } from "../../core/base/address.ts";
import type { HttpAnswer } from "../../core/base/http-framing.ts";
import { createLineReader } from "../../core/envoy/lines.ts";
import { judge } from "../../core/sidecars/probe.ts";
import { createHttpClient, type OnBody } from "../http/http.ts";
import { type FailureKind, RequestFailed, tooLong } from "../http/request-failed.ts";

/** The limit of each request: pilot-agent's (istio pkg/envoy/admin.go). */
export const ADMIN_REQUEST_MS = 2000;
/** The limit of an answer that is read as it comes, as long as it comes. */
const LONGEST_LINES_MS = 10_000;
/**
 * The limit, in bytes, of an answer that is held: the configuration of some listeners, the addresses of ten thousand.
 */
const MAX_ANSWER = 16 * 1024 * 1024;

/** The reason why there is no answer, or why it is not a 2xx. */
export interface NoAnswer {
  readonly reason: string;
  /** Whether nobody listens there. */
  readonly isRefused: boolean;
  /** Whether somebody accepted the connection and gave no valid answer. */
  readonly isBroken: boolean;
}

/**
 * A client of an Envoy's admin interface. Its requests resolve with a 2xx answer, or with the reason why there is none.
 */
export interface EnvoyAdmin extends Disposable {
  get(path: string): Promise<HttpAnswer | NoAnswer>;
  /**
   * Passes the answer's lines to `onLines` as they come, whole lines, several at a time. The answer that it resolves
   * with has only the beginning of the body. `most` limits the body's bytes.
   */
  getLines(path: string, onLines: (lines: string) => void, most?: number): Promise<HttpAnswer | NoAnswer>;
  post(path: string): Promise<HttpAnswer | NoAnswer>;
}

/**
 * Creates a client of an Envoy's admin interface. A request has 2 s (`ADMIN_REQUEST_MS`); `getLines` has 2 s after each
 * piece, 10 s in all (`LONGEST_LINES_MS`). All requests reject with the signal's reason if that is aborted.
 */
export function connectAdmin(admin: HttpTarget, signal: AbortSignal): EnvoyAdmin {
  const client = createHttpClient({ maxAnswer: MAX_ANSWER });
  const ask = async (method: string, path: string, body?: StreamedBody): Promise<HttpAnswer | NoAnswer> => {
    const patience = createPatience();
    const limit = patience.signal;
    let length = 0;
    const onBody =
      body &&
      ((text: string): void => {
        length += text.length;
        if (length > body.most) return patience.giveUp();
        patience.renew();
        body.onBody(text);
      });
    const request = { method, target: withPath(admin, path), headers: [] };
    try {
      const answer = await client.request(request, AbortSignal.any([signal, limit]), onBody);
      const verdict = judge(answer);
      return verdict.ready ? answer : noAnswer(verdict.reason);
    } catch (error) {
      if (error instanceof RequestFailed) return noAnswer(error.message, error.kind);
      if (signal.aborted || !limit.aborted) throw error;
      const isTooLong = body !== undefined && length > body.most;
      return noAnswer(isTooLong ? tooLong(body.most) : "no answer in time");
    } finally {
      patience.end();
    }
  };
  return {
    get: (path) => ask("GET", path),
    async getLines(path, onLines, most = Number.POSITIVE_INFINITY) {
      const lines = createLineReader(onLines);
      const outcome = await ask("GET", path, { onBody: lines.take, most });
      if (isAnswer(outcome)) lines.end();
      return outcome;
    },
    post: (path) => ask("POST", path),
    [Symbol.dispose]: () => client[Symbol.dispose](),
  };
}

function noAnswer(reason: string, kind?: FailureKind): NoAnswer {
  return { reason, isRefused: kind === "refused", isBroken: kind === "broken" };
}

/** A body that is passed on as it comes. */
interface StreamedBody {
  readonly onBody: OnBody;
  /** In bytes. */
  readonly most: number;
}

/** Creates a request's time limit, which is extended while lines arrive: a mesh with many clusters sends many. */
function createPatience() {
  const controller = new AbortController();
  const last = performance.now() + LONGEST_LINES_MS;
  let until = performance.now() + ADMIN_REQUEST_MS;
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
      until = Math.min(last, performance.now() + ADMIN_REQUEST_MS);
    },
    giveUp: () => controller.abort(),
    end: () => clearTimeout(timer),
  };
}

/** Reports whether Envoy's admin interface has answered with a 2xx. */
export function isAnswer(outcome: HttpAnswer | NoAnswer): outcome is HttpAnswer {
  return "status" in outcome;
}
