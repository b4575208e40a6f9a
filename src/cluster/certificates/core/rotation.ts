// When a webhook's own certificates are renewed, and in which order: the API server must trust the certificate of each
// replica at each instant. So a new CA is published beside the old one, then the API server trusts it, and only then is
// a certificate served that it has signed.

/** A certificate's validity, in milliseconds since the epoch. */
export interface Life {
  /** The certificate's SHA-256 fingerprint: lower-case hexadecimal, without colons. */
  readonly id: string;
  readonly fromMs: number;
  readonly untilMs: number;
}

/** The certificate that the webhook serves. */
export interface Serving extends Life {
  /** The `id` of the held CA that signed it; undefined if none of them did. */
  readonly authority: string | undefined;
  /** The host names and IP addresses it is valid for. */
  readonly names: readonly string[];
}

/** The certificates in the webhook's Secret. */
export interface Held {
  /** The CAs, the newest first: it signs. */
  readonly authorities: readonly Life[];
  /** Whether the Secret has the key of the newest CA. */
  readonly canSign: boolean;
  /** undefined if the Secret has no certificate with its key. */
  readonly serving: Serving | undefined;
  /** The reason to replace the CA even if nothing is wrong with it; undefined if there is none. */
  readonly distrusted?: string | undefined;
}

/** Times in milliseconds since the epoch. */
export interface Now {
  readonly nowMs: number;
  /** Since when the API server is known to trust the newest CA; undefined if it does not. */
  readonly trustedSinceMs: number | undefined;
}

/** The rules of a rotation; times are in milliseconds. */
export interface RotationPolicy {
  /** The names that the serving certificate must be valid for. */
  readonly names: readonly string[];
  /** How long the API servers may take to learn of a new CA. */
  readonly settleMs: number;
  /** How far the clocks of replicas and API servers may differ. */
  readonly skewMs: number;
  /** How long an old CA stays trusted after the certificate that it signed was replaced. */
  readonly retainMs: number;
  /**
   * If nothing is served: how long after the beginning of its life a CA signs, although the API server does not trust
   * it.
   */
  readonly patienceMs: number;
}

/** What to do with the certificates. */
export type Plan =
  /** Nothing to write; look again at `untilMs`. */
  | { readonly kind: "keep"; readonly untilMs: number }
  /**
   * To renew CA, serving certificate or both in one write. Each text is the reason; undefined keeps that certificate.
   */
  | { readonly kind: "renew"; readonly authority?: string | undefined; readonly serving?: string | undefined }
  /** To remove all CAs but the newest. */
  | { readonly kind: "retire" };

/** The part of its life after which a certificate is renewed. */
const RENEW_AT = 2 / 3;
/** The part of its life by which that may be earlier. */
const SPREAD = 0.05;

/**
 * Decides what to do with the certificates in the webhook's Secret: to keep them, to renew the CA, the serving
 * certificate or both, or to remove the CAs that are no longer needed.
 *
 * A usable certificate is replaced by one of another CA only `settleMs` after the API server trusts that CA, or when it
 * expires.
 */
export function planRotation(held: Held, now: Now, policy: RotationPolicy): Plan {
  const { serving, authorities } = held;
  const [newest] = authorities;
  const authority = whyAuthority(held, now, policy);
  const unusable = whyUnusable(held, now, policy);
  if (newest === undefined) return { kind: "renew", authority, serving: unusable };
  // nothing is in the Secret, but the API server trusts older CAs: replicas may well serve what those signed
  const mayBeServed = serving === undefined && authorities.length > (authority === undefined ? 1 : 0);
  if (authority !== undefined) return { kind: "renew", authority, serving: mayBeServed ? undefined : unusable };
  if (serving === undefined && mayBeServed) return renewInTime("there is none", { newest }, now, policy);
  if (serving === undefined || unusable !== undefined) return { kind: "renew", serving: unusable };
  const due = whyDue(serving, newest, now, policy);
  if (due !== undefined) return renewInTime(due, { newest, serving }, now, policy);
  const retireMs = authorities.length > 1 ? serving.fromMs + policy.retainMs : Number.POSITIVE_INFINITY;
  if (retireMs <= now.nowMs) return { kind: "retire" };
  return { kind: "keep", untilMs: Math.min(renewalOf(newest), renewalOf(serving), retireMs) };
}

/**
 * Returns when to renew a certificate, in milliseconds since the epoch: after two thirds of its life, or up to a
 * twentieth of it earlier, which its fingerprint decides, so that the clusters of a fleet differ.
 */
export function renewalOf({ id, fromMs, untilMs }: Life): number {
  const spread = (Number.parseInt(id.slice(0, 8), 16) / 2 ** 32) * SPREAD;
  return fromMs + (untilMs - fromMs) * (RENEW_AT - spread);
}

/** Returns the CAs that have not expired, or did so less than `skewMs` ago. */
export function unexpired<A extends Life>(
  authorities: readonly A[],
  nowMs: number,
  { skewMs }: RotationPolicy,
): readonly A[] {
  return authorities.filter(({ untilMs }) => untilMs + skewMs > nowMs);
}

function whyAuthority(
  { authorities: [newest], canSign, distrusted }: Held,
  { nowMs }: Now,
  { skewMs }: RotationPolicy,
) {
  if (distrusted !== undefined) return distrusted;
  if (newest === undefined) return "there is none";
  if (!canSign) return "its key is missing, or another CA's";
  if (nowMs < newest.fromMs - skewMs) return "it is from the future";
  if (nowMs >= newest.untilMs) return "it has expired";
  return nowMs >= renewalOf(newest) ? "two thirds of its life are over" : undefined;
}

/** Returns why the serving certificate cannot be served. Then any other is better, even if it is not trusted yet. */
function whyUnusable({ serving, authorities }: Held, { nowMs }: Now, { skewMs }: RotationPolicy): string | undefined {
  if (serving === undefined) return "there is none";
  if (!authorities.some(({ id }) => id === serving.authority)) return "its CA is not ours";
  if (nowMs < serving.fromMs - skewMs) return "it is from the future";
  return nowMs >= serving.untilMs ? "it has expired" : undefined;
}

function whyDue(serving: Serving, newest: Life, { nowMs }: Now, { names }: RotationPolicy): string | undefined {
  const lacking = names.filter((name) => !serving.names.includes(name));
  if (lacking.length > 0) return `it is not valid for ${lacking.join(", ")}`;
  if (serving.authority !== newest.id) return "there is a new CA";
  return nowMs >= renewalOf(serving) ? "two thirds of its life are over" : undefined;
}

interface Signing {
  readonly newest: Life;
  readonly serving?: Serving;
}

/**
 * Plans a new serving certificate: at once if the newest CA has signed the present one, otherwise when the API servers
 * have had time to learn of the newest CA.
 */
function renewInTime(
  why: string,
  { newest, serving }: Signing,
  { nowMs, trustedSinceMs }: Now,
  policy: RotationPolicy,
): Plan {
  const trustedMs = (trustedSinceMs ?? Number.POSITIVE_INFINITY) + policy.settleMs;
  const latestMs = serving === undefined ? newest.fromMs + policy.patienceMs : serving.untilMs;
  const atMs = serving?.authority === newest.id ? nowMs : Math.min(trustedMs, latestMs);
  return atMs <= nowMs ? { kind: "renew", serving: why } : { kind: "keep", untilMs: Math.min(atMs, renewalOf(newest)) };
}
