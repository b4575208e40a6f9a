import { redactUrl, redactUrls } from "../../core/base/redact.ts";
import { ApiError } from "./api-error.ts";
import type { Access } from "./identity.ts";

/** A request as error messages name it. */
export interface RequestName {
  readonly method: string;
  readonly path: string;
  readonly signal?: AbortSignal | undefined;
}

/** Causes by Bun's code, for those that Bun words in its own way or too briefly. */
const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nobody listens there",
  ERR_TLS_CERT_ALTNAME_INVALID: "its certificate is for another name; a kubeconfig's tls-server-name can say which",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    "its certificate is signed by a CA that is not known; a kubeconfig's certificate-authority can name it",
  UnsupportedProxyProtocol: "expected a proxy's URL with http: or https:",
};

/**
 * Converts a network failure into an ApiError without a status (`Unreachable` or `Timeout`), which names request,
 * server and proxy, redacted, and the cause. Returns the signal's reason instead if the signal is aborted.
 */
export function toApiError(error: unknown, { method, path, signal }: RequestName, { server, proxy }: Access): unknown {
  if (signal?.aborted) return signal.reason;
  const { name, code, message } = error as NodeJS.ErrnoException;
  const where = `${method} ${redactUrl(path)}: ${redactUrl(server)}${proxy ? ` through the proxy ${redactUrl(proxy)}` : ""}`;
  const none = { status: undefined, retryAfterMs: undefined };
  if (name === "TimeoutError") return new ApiError(`${where}: no answer in time`, { ...none, reason: "Timeout" });
  const known =
    reasons[code ?? ""] ?? (message.includes('fetching "') ? "" : message).replace(/^WebSocket .* failed: /, "");
  const why = known === "" ? code : `${known}${code === undefined ? "" : ` (${code})`}`;
  return new ApiError(`${where}: ${redactUrls(String(why))}`, { ...none, reason: "Unreachable" }, { cause: error });
}
