import { EXIT, Failure } from "./exit.ts";

/**
 * What the codes of errors mean, in the words of every message: those of the system (errno(3)) as strerror(3) has them,
 * of certificates (OpenSSL), and of Bun's fetch.
 */
export const errorTexts = {
  E2BIG: "argument list too long",
  EACCES: "permission denied",
  EADDRINUSE: "address already in use",
  EADDRNOTAVAIL: "address not available on this machine",
  EAFNOSUPPORT: "address family not supported",
  EAGAIN: "resource temporarily unavailable",
  ECONNREFUSED: "connection refused",
  ECONNRESET: "the connection was closed before the answer was complete",
  EFBIG: "file too large",
  EHOSTUNREACH: "no route to host",
  EIO: "input/output error",
  EISDIR: "is a directory",
  ELIBBAD: "accessing a corrupted shared library",
  ELOOP: "too many levels of symbolic links",
  EMFILE: "too many open files",
  ENAMETOOLONG: "file name too long",
  ENETUNREACH: "network is unreachable",
  ENFILE: "too many open files in system",
  ENOENT: "no such file or directory",
  ENOEXEC: "exec format error: the file is damaged, or not a program",
  ENOMEM: "out of memory",
  ENOSPC: "no space left on device",
  ENOTDIR: "not a directory",
  ENOTFOUND: "no such host",
  EPERM: "operation not permitted",
  EPROTO: "the TLS handshake failed: the server does not speak TLS, or requires a client certificate",
  EROFS: "read-only file system",
  ETIMEDOUT: "no answer in time",
  ETXTBSY: "text file busy",
  CERT_HAS_EXPIRED: "its certificate has expired",
  CERT_NOT_YET_VALID: "its certificate is not valid yet",
  DEPTH_ZERO_SELF_SIGNED_CERT: "its certificate is self-signed",
  ERR_TLS_CERT_ALTNAME_INVALID: "its certificate is for another host name",
  SELF_SIGNED_CERT_IN_CHAIN: "its certificate is signed by an unknown CA",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "its certificate is signed by an unknown CA",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "its certificate is signed by an unknown CA",
  ERR_SSL_WRONG_VERSION_NUMBER: "the server does not speak TLS",
  ERR_HTTP2_ERROR: "the answer is not HTTP/2, or breaks its rules",
  ERR_HTTP2_GOAWAY_SESSION: "the server is shutting down",
  InvalidHTTPResponse: "the answer is not HTTP",
  Malformed_HTTP_Response: "the answer is not HTTP",
  UnexpectedRedirect: "it redirects, which ebb does not follow",
  UnrequestedUpgrade: "the answer changes the protocol, which was not asked for",
  UnsupportedProxyProtocol: "expected a proxy's URL with http: or https:",
} as const;

/** Returns what a code means; undefined if it has no words here. */
export function errorText(code: string | undefined): string | undefined {
  const texts: Readonly<Record<string, string>> = errorTexts;
  return texts[code ?? ""];
}

/**
 * Describes an error of node:fs, node:net, Bun.serve, fetch or WebSocket in a few words, without the path, address or
 * URL that its message repeats. Of any other error returns the message, without Bun's advice to programmers, and the
 * code.
 */
export function describeSystemError(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  const words = errorText(code);
  if (words !== undefined) return words;
  const hints = /^WebSocket connection to '[^']*' failed: | fetching ".*$|\. For more information, pass .*$/gs;
  const reason = message.replace(hints, "");
  return typeof code !== "string" || reason.includes(code) ? reason : `${reason} (${code})`;
}

/** Returns the failure of a file that cannot be read or written. */
export function cannotAccess(path: string, error: unknown): Failure {
  return new Failure(EXIT.system, `${path}: cannot access: ${describeSystemError(error)}`);
}
