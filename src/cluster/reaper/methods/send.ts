import { EXIT, Failure } from "../../../shared/core/exit.ts";
import { ApiError, isConflict, isForbidden, isTransient, lacksRight } from "../../api/api-error.ts";
import type { EndRequest, EndResult, Unanswered } from "../core/attempt.ts";
import { sendByEphemeral } from "./ephemeral.ts";
import { sendByExec } from "./exec.ts";
import { sendByForward } from "./forward.ts";
import type { PodTarget, SendSettings } from "./target.ts";

/**
 * Sends a request to end a sidecar, and resolves with its result, also if the API fails. Rejects with the signal's
 * reason, or on a bug.
 */
export type Send = (request: EndRequest, target: PodTarget) => Promise<EndResult | Unanswered>;

/**
 * Creates the function that asks a sidecar to quit by exec, port-forward or ephemeral container. The log says once for
 * each method that it is forbidden (403).
 */
export function createSender(settings: SendSettings): Send {
  const forbidden = new Set<string>();
  return async (request, target) => {
    try {
      return await sendBy(request, target, settings);
    } catch (error) {
      const { kind } = request.method;
      if (isForbidden(error)) {
        if (!forbidden.has(kind))
          settings.log.warn({ method: kind, reason: error.message }, "a reaping method is forbidden");
        forbidden.add(kind);
      }
      return resultOf(error);
    }
  };
}

function sendBy({ method, patienceMs }: EndRequest, target: PodTarget, settings: SendSettings) {
  switch (method.kind) {
    case "exec":
      return sendByExec(method, target, settings);
    case "port-forward":
      return sendByForward(method, target, settings);
    case "ephemeral":
      return sendByEphemeral({ ...method, patienceMs }, target, settings);
  }
}

/** Returns the result that an error stands for. @throws the error itself if it is not the API's or an exec plugin's */
function resultOf(error: unknown): EndResult {
  const isPlugin = error instanceof Failure && error.exitCode === EXIT.unavailable;
  if (!(error instanceof ApiError || isPlugin)) throw error;
  const why = withoutRequest(error.message);
  if (isPlugin || isTransient(error) || isConflict(error)) {
    const afterMs = error instanceof ApiError ? error.retryAfterMs : undefined;
    return { kind: "unavailable", why, ...(afterMs !== undefined && { afterMs }) };
  }
  return { kind: "refused", why, ...(lacksRight(error) && { isUnasked: true }) };
}

/** Removes `GET /path: ` before the cause: Events and logs name the method instead. */
function withoutRequest(message: string): string {
  return message.replace(/^[A-Z]+ \/\S*: /, "");
}
