// When a webhook's own certificates are renewed, and in which order: the API server must trust the certificate of each replica
// at each instant. So a new CA is published beside the old one, then trusted, and only then is anything signed by it served.

/** A certificate's life, in milliseconds since the epoch, under its fingerprint. */
export interface Life {
  readonly id: string;
  readonly fromMs: number;
  readonly untilMs: number;
}

export interface Serving extends Life {
  /** Which of the authorities signed it; undefined: none of them. */
  readonly authority: string | undefined;
  readonly names: readonly string[];
}

/** What there is. */
export interface Held {
  /** The newest first: the one that signs. */
  readonly authorities: readonly Life[];
  /** Whether the key of the newest is there. */
  readonly canSign: boolean;
  /** Undefined: none that could be served at all. */
  readonly serving: Serving | undefined;
  /** Why the CA has to be another one, whatever it looks like. */
  readonly distrusted?: string | undefined;
}

/** When it is, and since when the API server is known to trust the newest CA. */
export interface Now {
  readonly nowMs: number;
  readonly trustedSinceMs: number | undefined;
}

export interface RotationPolicy {
  readonly names: readonly string[];
  /** How long the API servers may take to learn of a new CA. */
  readonly settleMs: number;
  /** How far the clocks of replicas and API servers may differ. */
  readonly skewMs: number;
  /** How long an old CA is trusted after the certificate that it signed was replaced. */
  readonly retainMs: number;
  /** How long a CA may be without trust, from the beginning of its life, until it signs all the same where nothing is served. */
  readonly patienceMs: number;
}

export type Plan =
  | { readonly kind: "keep"; readonly untilMs: number }
  /** One write renews one of them or both, and says why. */
  | { readonly kind: "renew"; readonly authority?: string | undefined; readonly serving?: string | undefined }
  /** No CA but the newest is trusted any longer. */
  | { readonly kind: "retire" };

const RENEW_AT = 2 / 3;
const SPREAD = 0.05;

/**
 * Decides what becomes of the certificates in the Secret: they are kept, the serving
 * certificate or the CA too is renewed, or CAs but the newest are no longer trusted. `untilMs`: when to look again.
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
 * Returns when to renew a certificate: after two thirds of its life, or up to a twentieth of it earlier, so that the clusters of a
 * fleet differ.
 */
export function renewalOf({ id, fromMs, untilMs }: Life): number {
  const spread = (Number.parseInt(id.slice(0, 8), 16) / 2 ** 32) * SPREAD;
  return fromMs + (untilMs - fromMs) * (RENEW_AT - spread);
}

/** Returns the CAs that have not expired, allowing for clock skew. */
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

/** Why what is served cannot be served: then whatever replaces it is better, trusted already or not. */
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

/** At once where its CA has signed what is served now; else when the API servers have had time to learn of the new CA. */
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
