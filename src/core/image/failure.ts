import { oneLine, shortened } from "../base/text.ts";
import type { LookupFailure } from "./lookup.ts";

/** Why a registry says nothing of an image. The message names the registry, what is wrong, and what to do. */
export class LookupError extends Error {
  readonly failure: LookupFailure;
  /** The Retry-After of a 429; undefined if there was none. */
  readonly retryAfterMs: number | undefined;

  constructor(failure: LookupFailure, message: string, retryAfterMs?: number) {
    super(boundedReason(message));
    this.name = "LookupError";
    this.failure = failure;
    this.retryAfterMs = retryAfterMs;
  }
}

const LONGEST_REASON = 1000;

/** Bounds a reason, which a registry may have worded, and which is remembered. */
export function boundedReason(text: string): string {
  // a copy: a slice keeps all of the text that it is cut from (measured)
  return Buffer.from(shortened(oneLine(text), LONGEST_REASON)).toString();
}

/** Failures that may pass by themselves: what was known before still counts. */
export const passing: readonly LookupFailure[] = ["rate-limited", "unreachable", "timeout"];

/** What to do about a failure of a registry. */
const remedies: Partial<Readonly<Record<LookupFailure, string>>> = {
  unauthorized:
    "give credentials that may pull it: a Secret in the pod's imagePullSecrets (the webhook reads it with --pull-secrets), or --registry-config",
  "rate-limited": "give credentials, which have a limit of their own, or name a mirror by --registry-mirror",
  "not-found": "check the image's name",
  untrusted: "name the CA by --registry-ca",
  unreachable: "check its name and the network, or name a mirror by --registry-mirror",
  timeout: "check its name and the network, or name a mirror by --registry-mirror",
};

/** Creates the failure of a registry: what is wrong, and what to do about it. */
export function lookupError(failure: LookupFailure, what: string, retryAfterMs?: number): LookupError {
  const remedy = remedies[failure];
  return new LookupError(failure, remedy === undefined ? what : `${what}; ${remedy}`, retryAfterMs);
}

/** An answer other than 200. */
export interface Refusal {
  readonly status: number;
  /** The body's beginning. */
  readonly body: string;
  readonly retryAfter: string | null;
}

/** Makes an error of a registry's refusal (OCI distribution-spec 1.1, "Error Codes"). `who`: what refused what. */
export function refusalError(who: string, { status, body, retryAfter }: Refusal): LookupError {
  const words = messageIn(body);
  const what = `${who}: ${status}${words === "" ? "" : ` (${words})`}`;
  if (status === 401 || status === 403) return lookupError("unauthorized", what);
  if (status === 404) return lookupError("not-found", what);
  if (status === 429) return lookupError("rate-limited", what, retryAfterMs(retryAfter));
  return lookupError(status >= 500 || status === 408 ? "unreachable" : "invalid", what);
}

/** Parses the seconds of a Retry-After (RFC 9110, 10.2.3); a date counts as none. */
function retryAfterMs(text: string | null): number | undefined {
  return text !== null && /^\d{1,9}$/.test(text) ? Number(text) * 1000 : undefined;
}

function messageIn(body: string): string {
  try {
    const { errors, details } = JSON.parse(body);
    const { code, message } = errors?.[0] ?? {};
    return shortened(
      [code, message, details].filter((part) => typeof part === "string" && part !== "").join(": "),
      200,
    );
  } catch {
    return ""; // a proxy's HTML
  }
}
