import { EXIT, Failure } from "../../shared/core/exit.ts";
import { HIDDEN, redactUrl, redactUrls } from "../../shared/core/redact.ts";
import { describeSystemError, errorTexts } from "../../shared/core/system-error.ts";
import { oneLine } from "../../shared/core/text.ts";
import { RequestFailed } from "../../shared/http/request-failed.ts";
import type { Access } from "./identity.ts";

/** A request that the API server refused, or did not answer. */
export class ApiError extends Error {
  /** The HTTP status; undefined if there was no answer. */
  readonly status: number | undefined;
  /**
   * A word for programs: `NotFound`, `Conflict`, `Forbidden`, ... are the server's; `Unreachable` and `Timeout` are
   * ebb's.
   */
  readonly reason: string;
  /** The Retry-After header; undefined if there was none. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, answer: Pick<ApiError, "status" | "reason" | "retryAfterMs">, options?: ErrorOptions) {
    super(oneLine(message), options); // the server may say anything
    this.name = "ApiError";
    this.status = answer.status;
    this.reason = answer.reason;
    this.retryAfterMs = answer.retryAfterMs;
  }
}

/** Reports whether the API server answered 404. */
export function isNotFound(error: unknown): boolean {
  return error instanceof ApiError && error.status === 404;
}

/**
 * Reports whether the API server answered 409: another client changed or created the object, so the caller must read it
 * again.
 */
export function isConflict(error: unknown): boolean {
  return error instanceof ApiError && error.status === 409;
}

/** Reports whether the API server answered 410: it no longer has the version from which on a watch shall tell. */
export function isResourceExpired(error: unknown): boolean {
  return error instanceof ApiError && error.status === 410;
}

/** Reports whether the API server answered 403: a permission is missing, or an admission plugin refuses. */
export function isForbidden(error: unknown): error is ApiError {
  return error instanceof ApiError && error.status === 403;
}

/**
 * Reports whether the account lacks a permission (403), which may be granted at any moment (k8s.io/apiserver,
 * pkg/endpoints/handlers/responsewriters/errors.go, forbiddenMessage). Returns false for an admission plugin's 403.
 */
export function lacksRight(error: unknown): error is ApiError {
  return isForbidden(error) && / cannot \S+ (resource|path) "/.test(error.message);
}

/**
 * Reports whether a failure of the API server may pass by itself: no answer, 429 (too many requests), or 500 and above.
 */
export function isTransient(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false;
  return error.status === undefined || error.status === 429 || error.status >= 500;
}

/**
 * Reports whether an error is the API server's or the credentials' (ApiError, Failure(69)), not a bug in ebb. A
 * long-running command logs it and goes on.
 */
export function isApiFailure(error: unknown): error is Error {
  return error instanceof ApiError || (error instanceof Failure && error.exitCode === EXIT.unavailable);
}

/** A request as error messages name it. */
export interface RequestName {
  readonly method: string;
  readonly path: string;
  readonly signal?: AbortSignal | undefined;
}

/** What helps, by the code of the cause. */
const remedies: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: "set certificate-authority in the kubeconfig",
  ERR_TLS_CERT_ALTNAME_INVALID: "set tls-server-name in the kubeconfig",
  SELF_SIGNED_CERT_IN_CHAIN: "set certificate-authority in the kubeconfig",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "set certificate-authority in the kubeconfig",
};

/** Parameters that differ from try to try, and would make another message of the same failure. */
const varying: ReadonlySet<string> = new Set(["timeoutSeconds", "resourceVersion", "continue"]);

/**
 * Returns a request's path as errors show it: decoded, and without the words of a command, which may hold a secret, and
 * what differs from try to try.
 */
export function shownPath(path: string): string {
  const [pathname, query] = path.split("?", 2);
  if (query === undefined) return path;
  const values = [...new URLSearchParams(query)]
    .filter(([name]) => !varying.has(name))
    .map(([name, value]) => `${name}=${name === "command" ? HIDDEN : value}`);
  return `${pathname}?${values.join("&")}`;
}

/**
 * Converts a network failure into an ApiError without a status (`Unreachable` or `Timeout`), which names request,
 * server and proxy, redacted, and the cause. Returns the signal's reason instead if the signal is aborted.
 */
export function toApiError(error: unknown, { method, path, signal }: RequestName, { server, proxy }: Access): unknown {
  if (signal?.aborted) return signal.reason;
  const { name, code } = error as NodeJS.ErrnoException;
  const where = `${method} ${shownPath(path)}: ${redactUrl(server)}${proxy ? ` through the proxy ${redactUrl(proxy)}` : ""}`;
  const none = { status: undefined, retryAfterMs: undefined };
  const isLate = name === "TimeoutError" || (error instanceof RequestFailed && error.kind === "late");
  if (isLate) return new ApiError(`${where}: ${errorTexts.ETIMEDOUT}`, { ...none, reason: "Timeout" });
  const remedy = remedies[code ?? ""];
  const why = `${redactUrls(describeSystemError(error))}${remedy === undefined ? "" : `; ${remedy}`}`;
  return new ApiError(`${where}: ${why}`, { ...none, reason: "Unreachable" }, { cause: error });
}
