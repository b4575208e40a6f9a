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

/** Whether the API server answered 404. */
export function isNotFound(error: unknown): boolean {
  return error instanceof ApiError && error.status === 404;
}

/** Whether another client has changed the object meanwhile (409): read it again. */
export function isConflict(error: unknown): boolean {
  return error instanceof ApiError && error.status === 409;
}

/**
 * Whether the account lacks a right (403), which may be granted at any moment (k8s.io/apiserver,
 * pkg/endpoints/handlers/responsewriters/errors.go, forbiddenMessage). False for the 403 of an admission plugin.
 */
export function lacksRight(error: unknown): error is ApiError {
  return error instanceof ApiError && error.status === 403 && / cannot \S+ (resource|path) "/.test(error.message);
}

/** Whether a failure may pass in a moment: no answer, too many requests (429), a server error. */
export function isTransient(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false;
  return error.status === undefined || error.status === 429 || error.status >= 500;
}

/** Whether a failure is the API server's or the credentials' and no bug: a long-running command logs it and goes on. */
export function isApiFailure(error: unknown): error is Error {
  return error instanceof ApiError || (error instanceof Failure && error.exitCode === EXIT.unavailable);
}
