import { formatDuration } from "../core/duration.ts";
import { errorTexts } from "../core/system-error.ts";

/**
 * Why a request brought no answer:
 * - `refused`: connection refused
 * - `unreachable`: there is no connection, for another reason
 * - `late`: time was up
 * - `broken`: the connection was accepted and the answer was not valid
 */
export type FailureKind = "refused" | "unreachable" | "late" | "broken";

/** An HTTP request or connection attempt that brought no answer. */
export class RequestFailed extends Error {
  readonly kind: FailureKind;
  /** The code of its cause (shared/core/system-error.ts); undefined if it has none, or is not fetch's. */
  readonly code: string | undefined;

  constructor(kind: FailureKind, reason: string, code?: string) {
    super(reason);
    this.kind = kind;
    this.code = code;
  }
}

/** The reason with which a request is `refused`. */
export const REFUSED = errorTexts.ECONNREFUSED;

/** The reason while a name is being looked up, and while no DNS server has answered without an error. */
export const UNRESOLVED = "the host name is not resolved yet";

/** The reason if a name has no address. */
export const NO_HOST = errorTexts.ENOTFOUND;

/** Formats why a connection does not count: `closed within 100ms: ...`. */
export function closedWithin(ms: number): string {
  return `closed within ${formatDuration(ms)}: a proxy may have accepted it for a server that is down`;
}

/** Formats a limit in bytes for an error: `an answer longer than 64 KiB`. */
export function tooLong(maxBytes: number): string {
  const kib = maxBytes / 1024;
  return `an answer longer than ${kib < 1024 ? `${kib} KiB` : `${kib / 1024} MiB`}`;
}
