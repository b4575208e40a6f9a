import { oneLine } from "../../core/base/text.ts";
import { EXIT, Failure } from "../../core/run/exit.ts";

/** What an API server answered instead of what was asked for, or why it did not answer. */
export class ApiError extends Error {
  /** HTTP's; undefined: there was no answer. */
  readonly status: number | undefined;
  /** A word for programs: `NotFound`, `Conflict`, `Forbidden`, ...; `Unreachable` and `Timeout` are ours. */
  readonly reason: string;
  readonly retryAfterMs: number | undefined;

  constructor(message: string, answer: Pick<ApiError, "status" | "reason" | "retryAfterMs">, options?: ErrorOptions) {
    super(oneLine(message), options); // the server may say anything
    this.name = "ApiError";
    this.status = answer.status;
    this.reason = answer.reason;
    this.retryAfterMs = answer.retryAfterMs;
  }
}

export function isNotFound(error: unknown): boolean {
  return error instanceof ApiError && error.status === 404;
}

/** Somebody wrote in between: read again. */
export function isConflict(error: unknown): boolean {
  return error instanceof ApiError && error.status === 409;
}

/**
 * Whoever asks lacks the right (k8s.io/apiserver, pkg/endpoints/handlers/responsewriters/errors.go, forbiddenMessage): it may be
 * granted at any moment. An admission plugin's 403 stays.
 */
export function lacksRight(error: unknown): error is ApiError {
  return error instanceof ApiError && error.status === 403 && / cannot \S+ (resource|path) "/.test(error.message);
}

/** What may be better in a moment: no answer, too many requests, a server that is not well. */
export function isPassing(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false;
  return error.status === undefined || error.status === 429 || error.status >= 500;
}

/** What who goes on for long waits out: the server's trouble, or that it cannot be said just now who asks. */
export function isTrouble(error: unknown): error is Error {
  return error instanceof ApiError || (error instanceof Failure && error.exitCode === EXIT.unavailable);
}
