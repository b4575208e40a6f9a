import { type HttpTarget, withPath } from "../../core/base/address.ts";
import type { HttpAnswer } from "../../core/base/http-framing.ts";
import { createLineReader } from "../../core/envoy/lines.ts";
import { judge } from "../../core/sidecars/probe.ts";
import { createHttpClient, type OnBody, tooLong } from "../http/http.ts";
import { type FailureKind, RequestFailed } from "../http/request-failed.ts";
import { askDirectly } from "../sidecars/ask-at-once.ts";

/** For each request: pilot-agent's limit (istio pkg/envoy/admin.go). */
export const ADMIN_REQUEST_MS = 2000;
/** For an answer that is read as it comes, as long as it comes. */
const LONGEST_LINES_MS = 10_000;
/** What is not read as it comes: the configuration of some listeners, the addresses of ten thousand. */
const MAX_ANSWER = 16 * 1024 * 1024;

/** No answer, or not a 2xx. `isRefused`: nobody listens there. `isBroken`: the connection gave no valid answer. */
export interface NoAnswer {
  readonly reason: string;
  readonly isRefused: boolean;
  readonly isBroken: boolean;
}

/** An Envoy's admin interface: what it answers, or why it does not. */
export interface EnvoyAdmin extends Disposable {
  get(path: string): Promise<HttpAnswer | NoAnswer>;
  /** Gets the answer's lines as they come, some at a time; the beginning of the body is in what it resolves to. */
  getLines(path: string, onLines: (lines: string) => void, most?: number): Promise<HttpAnswer | NoAnswer>;
  post(path: string): Promise<HttpAnswer | NoAnswer>;
}

/**
 * Creates a client of an Envoy's admin interface. Each request has a time limit; all reject with the signal's reason when it is
 * aborted.
 */
export function connectAdmin(admin: HttpTarget, signal: AbortSignal): EnvoyAdmin {
  const client = createHttpClient({ maxAnswer: MAX_ANSWER });
  const ask = async (method: string, path: string, body?: StreamedBody): Promise<HttpAnswer | NoAnswer> => {
    const patience = createPatience();
    const limit = patience.signal;
    let length = 0;
    const hear =
      body &&
      ((text: string): void => {
        length += text.length;
        if (length > body.most) return patience.giveUp();
        patience.renew();
        body.onBody(text);
      });
    const request = { method, target: withPath(admin, path), headers: [] };
    try {
      const either = AbortSignal.any([signal, limit]);
      const direct = hear === undefined ? undefined : askDirectly(request, either, hear);
      const answer = await (direct ?? client.request(request, either, hear));
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

/** A body that is handed on as it comes, and how many bytes it may have. */
interface StreamedBody {
  readonly onBody: OnBody;
  readonly most: number;
}

/** Creates a request's limit, which is extended while lines arrive: a mesh with many clusters sends many. */
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

/** Whether Envoy's admin interface has answered, with whatever status. */
export function isAnswer(outcome: HttpAnswer | NoAnswer): outcome is HttpAnswer {
  return "status" in outcome;
}
