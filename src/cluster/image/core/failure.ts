import { redactSecrets } from "../../../shared/core/redact.ts";
import { oneLine, shortened } from "../../../shared/core/text.ts";
import type { LookupFailure } from "./lookup.ts";

/** What an error has beside what is wrong. */
interface Details {
  /** What to do about it. */
  readonly remedy?: string | undefined;
  /** What the registry itself says. */
  readonly words?: string;
  /** The Retry-After of a 429; undefined if there was none. */
  readonly retryAfterMs?: number | undefined;
}

/**
 * Why a registry says nothing of an image. The message names the registry, what is wrong, and what to do. The registry's
 * own words come last: of a warning, the API server shows 256 characters.
 */
export class LookupError extends Error {
  readonly failure: LookupFailure;
  /** What is wrong. */
  readonly problem: string;
  readonly remedy: string | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(failure: LookupFailure, problem: string, { remedy, words = "", retryAfterMs }: Details = {}) {
    const advice = remedy === undefined ? "" : `${problem.includes(": ") ? ";" : ":"} ${remedy}`;
    super(boundedReason(`${problem}${advice}${words === "" ? "" : `; it says: ${words}`}`));
    this.name = "LookupError";
    this.failure = failure;
    this.problem = boundedReason(problem);
    this.remedy = remedy;
    this.retryAfterMs = retryAfterMs;
  }
}

/** Makes one error of those of several registries, one or more. A remedy of neighbours is named once. */
export function joined(errors: readonly LookupError[]): LookupError {
  const last = errors.at(-1) as LookupError;
  if (errors.length === 1) return last;
  const texts = errors.map(({ problem, remedy, message }, at) =>
    remedy !== undefined && remedy === errors[at + 1]?.remedy ? problem : message,
  );
  return new LookupError(last.failure, texts.join(". "), { retryAfterMs: last.retryAfterMs });
}

const LONGEST_REASON = 1000;

/** Bounds a reason, which a registry may have worded, and which is remembered. */
export function boundedReason(text: string): string {
  // a copy: a slice keeps all of the text that it is cut from (measured)
  return Buffer.from(oneLine(shortened(text, LONGEST_REASON))).toString();
}

/** Failures that may pass by themselves: what was known before still counts. */
export const passing: readonly LookupFailure[] = ["rate-limited", "unreachable", "timeout"];

const CHECK_NETWORK = "check the name and the network, or name a mirror that answers (--registry-mirror)";

/** What to do about a failure of a registry. */
const remedies: Partial<Readonly<Record<LookupFailure, string>>> = {
  "rate-limited": "give credentials, which have a limit of their own, or name a mirror with --registry-mirror",
  untrusted: "name the CA with --ca-file",
  unreachable: CHECK_NETWORK,
  timeout: CHECK_NETWORK,
};

/**
 * Returns what to do if a registry gives an image to some only, or to nobody: strangers are not told what there is. At a
 * desk, nobody reads the Secrets of pods.
 */
export function loginRemedy(host: string, isAtDesk: boolean): string {
  const name = ", or there is no such repository: check the name";
  if (isAtDesk) return `log in (docker login ${host}), or give --registry-config FILE${name}`;
  return `give credentials: the pod's imagePullSecrets (with --pull-secrets), or --registry-config${name}`;
}

/** Names what is refused: with which credentials it was asked for. */
export function askedFor(what: string, hasCredentials: boolean): string {
  return `${what} ${hasCredentials ? "with the credentials that were sent" : "without credentials"}`;
}

/** Creates the failure of a registry: what is wrong, and what to do about it, by default what its kind says. */
export function lookupError(failure: LookupFailure, problem: string, details: Details = {}): LookupError {
  return new LookupError(failure, problem, { remedy: remedies[failure], ...details });
}

/** An answer other than 200. */
interface Refusal {
  readonly status: number;
  /** The body's beginning. */
  readonly body: string;
  readonly retryAfter: string | undefined;
  /** The secrets that were sent, which it may repeat. */
  readonly sent: readonly string[];
}

/** What was asked for, and of whom. */
export interface Refused {
  /** `registry.example.com`. */
  readonly who: string;
  /** `team/app`, `a token`. */
  readonly what: string;
  /** `team/app:1.4`, `team/app@sha256:...`; undefined for a token. */
  readonly image: string | undefined;
  /** What to do if who asks may not have it. */
  readonly login: string;
}

/** Makes an error of a registry's refusal (OCI distribution-spec 1.1, "Error Codes"). */
export function refusalError(refused: Refused, { status, body, retryAfter, sent }: Refusal): LookupError {
  const failure = failureOf(status);
  const { problem, ...remedy } = explained(refused, failure, status);
  const answer = { words: messageIn(body, sent), retryAfterMs: status === 429 ? retryAfterMs(retryAfter) : undefined };
  return lookupError(failure, problem, { ...remedy, ...answer });
}

function explained({ who, what, image, login }: Refused, failure: LookupFailure, status: number) {
  if (failure === "not-found" && image !== undefined) {
    const name = image.includes("@") ? "digest" : "tag";
    return { problem: `${who} has no ${image} (${status})`, remedy: `check the name and the ${name}` };
  }
  if (failure === "unreachable")
    return { problem: `${who} fails (${status})`, remedy: "try again later, or name a mirror with --registry-mirror" };
  const problem = `${who} refuses ${what} (${status})`;
  return failure === "unauthorized" ? { problem, remedy: login } : { problem };
}

function failureOf(status: number): LookupFailure {
  if (status === 401 || status === 403) return "unauthorized";
  if (status === 404) return "not-found";
  if (status === 429) return "rate-limited";
  return status >= 500 || status === 408 ? "unreachable" : "invalid";
}

/** Parses the seconds of a Retry-After (RFC 9110, 10.2.3); a date counts as none. */
function retryAfterMs(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) * 1000 : undefined;
}

function messageIn(body: string, sent: readonly string[]): string {
  try {
    const { errors, details } = JSON.parse(body);
    const { code, message } = errors?.[0] ?? {};
    const text = [code, message, details].filter((part) => typeof part === "string" && part !== "").join(": ");
    return shortened(redactSecrets(text, sent), 200);
  } catch {
    return ""; // a proxy's HTML
  }
}
