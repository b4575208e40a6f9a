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

export interface Policy {
  readonly names: readonly string[];
  /** How long the API servers may take to learn of a new CA. */
  readonly settleMs: number;
  /** How far the clocks of replicas and API servers may differ. */
  readonly skewMs: number;
  /** How long an old CA is trusted after the certificate that it signed was replaced. */
  readonly retainMs: number;
}

export type Plan =
  | { readonly kind: "keep"; readonly untilMs: number }
  /** One write renews one of them or both, and says why. */
  | { readonly kind: "renew"; readonly authority?: string | undefined; readonly serving?: string | undefined }
  /** No CA but the newest is trusted any longer. */
  | { readonly kind: "retire" };

const RENEW_AT = 2 / 3;
const SPREAD = 0.05;

export function plan(held: Held, now: Now, policy: Policy): Plan {
  const { serving, authorities } = held;
  const [newest] = authorities;
  const authority = whyAuthority(held, now, policy);
  const urgent = whyUnusable(held, now, policy);
  if (authority !== undefined || urgent !== undefined) return { kind: "renew", authority, serving: urgent };
  if (newest === undefined || serving === undefined) throw new Error("both were found to be there");
  const due = whyDue(serving, newest, now, policy);
  if (due !== undefined) return renewInTime(due, { serving, newest }, now, policy);
  const retireMs = authorities.length > 1 ? serving.fromMs + policy.retainMs : Number.POSITIVE_INFINITY;
  if (retireMs <= now.nowMs) return { kind: "retire" };
  return { kind: "keep", untilMs: Math.min(renewalOf(newest), renewalOf(serving), retireMs) };
}

/** At two thirds of its life, and up to a twentieth of it earlier: not all clusters of a fleet in the same minute. */
export function renewalOf({ id, fromMs, untilMs }: Life): number {
  const spread = (Number.parseInt(id.slice(0, 8), 16) / 2 ** 32) * SPREAD;
  return fromMs + (untilMs - fromMs) * (RENEW_AT - spread);
}

/** Those that are still worth trusting. */
export function unexpired<A extends Life>(authorities: readonly A[], nowMs: number, { skewMs }: Policy): readonly A[] {
  return authorities.filter(({ untilMs }) => untilMs + skewMs > nowMs);
}

function whyAuthority({ authorities: [newest], canSign, distrusted }: Held, { nowMs }: Now, { skewMs }: Policy) {
  if (distrusted !== undefined) return distrusted;
  if (newest === undefined) return "there is none";
  if (!canSign) return "its key is missing, or another CA's";
  if (nowMs < newest.fromMs - skewMs) return "it is from the future";
  if (nowMs >= newest.untilMs) return "it has expired";
  return nowMs >= renewalOf(newest) ? "two thirds of its life are over" : undefined;
}

/** Why what is served cannot be served: then whatever replaces it is better, trusted already or not. */
function whyUnusable({ serving, authorities }: Held, { nowMs }: Now, { skewMs }: Policy): string | undefined {
  if (serving === undefined) return "there is none";
  if (!authorities.some(({ id }) => id === serving.authority)) return "its CA is not ours";
  if (nowMs < serving.fromMs - skewMs) return "it is from the future";
  return nowMs >= serving.untilMs ? "it has expired" : undefined;
}

function whyDue(serving: Serving, newest: Life, { nowMs }: Now, { names }: Policy): string | undefined {
  const lacking = names.filter((name) => !serving.names.includes(name));
  if (lacking.length > 0) return `it is not valid for ${lacking.join(", ")}`;
  if (serving.authority !== newest.id) return "there is a new CA";
  return nowMs >= renewalOf(serving) ? "two thirds of its life are over" : undefined;
}

interface Pair {
  readonly serving: Serving;
  readonly newest: Life;
}

/** At once where its CA has signed what is served now; else when the API servers have had time to learn of the new CA. */
function renewInTime(why: string, { serving, newest }: Pair, { nowMs, trustedSinceMs }: Now, policy: Policy): Plan {
  const settledMs = trustedSinceMs === undefined ? Number.POSITIVE_INFINITY : trustedSinceMs + policy.settleMs;
  if (serving.authority === newest.id || settledMs <= nowMs) return { kind: "renew", serving: why };
  return { kind: "keep", untilMs: Math.min(settledMs, serving.untilMs, renewalOf(newest)) };
}
