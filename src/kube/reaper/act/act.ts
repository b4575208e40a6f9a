import type { Act, Result } from "../../../core/reap/reconcile.ts";
import { EXIT, Failure } from "../../../core/run/exit.ts";
import { ApiError, isConflict, isForbidden, isTransient, lacksRight } from "../../api/api-error.ts";
import type { Acting, ActSettings } from "./acting.ts";
import { actByEphemeral } from "./ephemeral.ts";
import { actByExec } from "./exec.ts";
import { actByForward } from "./forward.ts";

/**
 * Performs an act on a pod, and resolves with its result, also if the API fails. Rejects with the signal's reason, or
 * on a bug.
 */
export type Perform = (act: Act, acting: Acting) => Promise<Result>;

/**
 * Creates the function that tells a sidecar to quit by exec, port-forward or ephemeral container. Each method reads the
 * pod once more, as late as it can, and acts on that pod or on none. The log says once for each method that it is
 * forbidden (403).
 */
export function createActs(settings: ActSettings): Perform {
  const forbidden = new Set<string>();
  return async (act, acting) => {
    try {
      return await perform(act, acting, settings);
    } catch (error) {
      const { kind } = act.method;
      if (isForbidden(error)) {
        if (!forbidden.has(kind))
          settings.log.warn({ method: kind, reason: error.message }, "a reaping method is forbidden");
        forbidden.add(kind);
        settings.denied?.(error);
      }
      return resultOf(error);
    }
  };
}

function perform({ method, patienceMs }: Act, acting: Acting, settings: ActSettings): Promise<Result> {
  switch (method.kind) {
    case "exec":
      return actByExec(method, acting, settings);
    case "port-forward":
      return actByForward(method, acting, settings);
    case "ephemeral":
      return actByEphemeral({ ...method, patienceMs }, acting, settings);
  }
}

/** Returns the result that an error stands for. @throws the error itself if it is not the API's or an exec plugin's */
function resultOf(error: unknown): Result {
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
