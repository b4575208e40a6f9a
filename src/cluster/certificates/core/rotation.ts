// When the CA in the webhook's Secret is replaced, and when a replica signs its certificate with it. The API server must
// trust what each replica serves, at each instant: so a new CA is published beside the old one, then the API server
// trusts it, and only then do the replicas sign with it. An hour later the old one goes.

/** A certificate's validity, in milliseconds since the epoch. */
export interface Life {
  /** The certificate's SHA-256 fingerprint: lower-case hexadecimal, without colons. */
  readonly id: string;
  readonly fromMs: number;
  readonly untilMs: number;
}

/** What a replica knows; times are in milliseconds since the epoch. */
export interface KnownCertificates {
  readonly nowMs: number;
  /** The CAs in the Secret, the newest first: it signs. */
  readonly authorities: readonly Life[];
  /** Whether the Secret has the key of the newest CA. */
  readonly canSign: boolean;
  /** Since when this replica knows the newest CA. */
  readonly seenMs: number;
  /** Since when it knows that the API server trusts the newest CA; undefined if it does not. */
  readonly trustedMs: number | undefined;
  /** The CAs that are not in the Secret, but signed what this replica serves, or are trusted by the API server. */
  readonly lost: readonly Life[];
  /** The certificate that this replica serves, and the `id` of the CA that signed it; undefined: it has none. */
  readonly leaf: (Life & { readonly authority: string }) | undefined;
}

/** What to do next. */
export type RotationStep =
  /** To serve a new certificate, signed with the newest CA. */
  | { readonly kind: "sign" }
  /** To add a new CA to the Secret; `why` says what is wrong with the newest one. */
  | { readonly kind: "renew"; readonly why: string }
  /** To add the lost CAs to the Secret. */
  | { readonly kind: "restore" }
  /** To remove all CAs but the newest from the Secret. */
  | { readonly kind: "retire" }
  /** Nothing; look again at `untilMs`. */
  | { readonly kind: "keep"; readonly untilMs: number };

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** How long a CA, and a certificate that a replica serves, are valid. */
export const AUTHORITY_MS = 365 * DAY_MS;
export const LEAF_MS = 30 * DAY_MS;
/** How far the clocks of replicas and API servers may differ. */
const SKEW_MS = 5 * MINUTE_MS;
/** How long the API servers may take to learn of a new CA. */
const SETTLE_MS = 10_000;
/** How long a replica without a certificate waits for the API server to trust the newest CA. */
const PATIENCE_MS = MINUTE_MS;
/** How long an old CA stays after the API server trusts the newest one. */
const RETAIN_MS = HOUR_MS;
/** The part of its life after which a certificate is renewed, and the part by which that may be earlier. */
const RENEW_AT = 2 / 3;
const SPREAD = 0.05;

/** Decides what a replica does next. */
export function planCertificates(known: KnownCertificates): RotationStep {
  const { nowMs, authorities, trustedMs, lost } = known;
  const [newest] = authorities;
  const signMs = whenToSign(known);
  if (signMs <= nowMs) return { kind: "sign" };
  const why = whyRenew(known);
  if (newest === undefined || why !== undefined) return { kind: "renew", why: why ?? "there is none" };
  if (lost.length > 0 && !hasSettled(known)) return { kind: "restore" };
  const retireMs = authorities.length > 1 ? after(trustedMs, RETAIN_MS) : Number.POSITIVE_INFINITY;
  if (retireMs <= nowMs) return { kind: "retire" };
  return { kind: "keep", untilMs: Math.min(renewalOf(newest), signMs, retireMs) };
}

/**
 * Returns when to renew a certificate, in milliseconds since the epoch: after two thirds of its life, or up to a
 * twentieth of it earlier, which its fingerprint decides, so that the clusters of a fleet differ.
 */
export function renewalOf({ id, fromMs, untilMs }: Life): number {
  const spread = (Number.parseInt(id.slice(0, 8), 16) / 2 ** 32) * SPREAD;
  return fromMs + (untilMs - fromMs) * (RENEW_AT - spread);
}

/** Returns the validity of a certificate that is created now. It begins in the past, because clients' clocks may be late. */
export function lifeFrom(nowMs: number, validityMs: number): Omit<Life, "id"> {
  return { fromMs: nowMs - SKEW_MS, untilMs: nowMs + validityMs };
}

/** Reports whether a certificate has expired by every clock. */
export function isExpired({ untilMs }: Life, nowMs: number): boolean {
  return untilMs + SKEW_MS <= nowMs;
}

function whenToSign(known: KnownCertificates): number {
  const { authorities, lost, leaf, trustedMs, seenMs, nowMs } = known;
  const [newest] = authorities;
  if (newest === undefined || whyUnusable(known) !== undefined) return Number.POSITIVE_INFINITY;
  const settledMs = after(trustedMs, SETTLE_MS);
  if (leaf === undefined || leaf.untilMs <= nowMs) {
    const isAlone = authorities.length === 1 && lost.length === 0; // nobody can serve what another CA has signed
    return isAlone ? nowMs : Math.min(settledMs, seenMs + PATIENCE_MS);
  }
  if (leaf.authority !== newest.id) return Math.min(settledMs, leaf.untilMs);
  return leaf.untilMs < newest.untilMs ? renewalOf(leaf) : Number.POSITIVE_INFINITY; // else another one ends as soon
}

function whyRenew(known: KnownCertificates): string | undefined {
  const [newest] = known.authorities;
  const isDue = newest !== undefined && known.nowMs >= renewalOf(newest);
  return whyUnusable(known) ?? (isDue ? "two thirds of its life are over" : undefined);
}

function whyUnusable({ authorities: [newest], canSign, nowMs }: KnownCertificates): string | undefined {
  if (newest === undefined) return "there is none";
  if (!canSign) return "its key is missing, or another CA's";
  if (nowMs < newest.fromMs - SKEW_MS) return "it is from the future";
  return nowMs >= newest.untilMs ? "it has expired" : undefined;
}

/** Reports whether all API servers have had time to learn of the newest CA. */
function hasSettled({ trustedMs, nowMs }: KnownCertificates): boolean {
  return after(trustedMs, SETTLE_MS) <= nowMs;
}

function after(sinceMs: number | undefined, ms: number): number {
  return sinceMs === undefined ? Number.POSITIVE_INFINITY : sinceMs + ms;
}
