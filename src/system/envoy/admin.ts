import { at, type HttpTarget } from "../../core/address.ts";
import type { HttpAnswer } from "../../core/http-message.ts";
import { judge } from "../../core/probe.ts";
import { createHttpClient } from "../http.ts";
import { RequestFailed } from "../request-failed.ts";

/** For each request: pilot-agent's limit (istio pkg/envoy/admin.go). */
export const ADMIN_REQUEST_MS = 2000;
/** The statistics of a proxy with ten thousand listeners fit. */
const MAX_ANSWER = 16 * 1024 * 1024;

/** No answer, or not a 2xx. `isRefused`: nobody listens there. */
export interface NoAnswer {
  readonly reason: string;
  readonly isRefused: boolean;
}

/** An Envoy's admin interface: what it answers, or why it does not. */
export interface EnvoyAdmin extends Disposable {
  get(path: string): Promise<HttpAnswer | NoAnswer>;
  post(path: string): Promise<HttpAnswer | NoAnswer>;
}

/** Each request is bounded; all end with the signal, by rejecting with its reason. */
export function connectAdmin(admin: HttpTarget, signal: AbortSignal): EnvoyAdmin {
  const client = createHttpClient({ maxAnswer: MAX_ANSWER });
  const ask = async (method: string, path: string): Promise<HttpAnswer | NoAnswer> => {
    const limit = AbortSignal.timeout(ADMIN_REQUEST_MS);
    const request = { method, target: at(admin, path), headers: [] };
    try {
      const answer = await client.request(request, AbortSignal.any([signal, limit]));
      const verdict = judge(answer);
      return verdict.ready ? answer : { reason: verdict.reason, isRefused: false };
    } catch (error) {
      if (error instanceof RequestFailed) return { reason: error.message, isRefused: error.kind === "refused" };
      if (signal.aborted || !limit.aborted) throw error;
      return { reason: "no answer in time", isRefused: false };
    }
  };
  return {
    get: (path) => ask("GET", path),
    post: (path) => ask("POST", path),
    [Symbol.dispose]: () => client[Symbol.dispose](),
  };
}

export function isAnswer(outcome: HttpAnswer | NoAnswer): outcome is HttpAnswer {
  return "status" in outcome;
}
