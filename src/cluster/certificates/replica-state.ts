import type { Secret, WebhookConfiguration } from "../api/core/objects.ts";
import { bundledAuthorities, trusts } from "./ca-bundle.ts";
import { isExpired, type KnownCertificates, LEAF_MS, type Life, lifeFrom } from "./core/rotation.ts";
import { type Authority, type Held, type KeyPair, readLife } from "./held.ts";
import { issueServing } from "./issue.ts";
import type { OwnCertificates } from "./own-certificates.ts";

/** What a replica knows. A field is undefined until it is known. Times are in milliseconds since the epoch. */
export interface ReplicaState {
  /** When this state began. */
  readonly sinceMs: number;
  /** The Secret as last seen; `now` is undefined if it does not exist. */
  secret?: { readonly now: Secret | undefined };
  /** The webhook configuration as last seen; `now` is undefined if it does not exist. */
  configuration?: { readonly now: WebhookConfiguration | undefined };
  /** The newest CA, since when it is known, and since when the webhook configuration trusts it. */
  newest?: { readonly id: string; readonly seenMs: number; readonly trustedMs: number | undefined };
  /** The certificate that this replica serves. */
  leaf?: Leaf;
  /** When this replica last wrote the Secret. */
  wroteMs?: number;
  /** When it last wrote the webhook configuration. */
  spreadMs?: number;
  /** Whether the log has said that cert-manager manages the caBundle. */
  isWarned?: boolean;
}

/** A certificate with its key, and the CA that signed it. */
export interface Leaf extends Life, KeyPair {
  readonly authority: Authority;
}

/** Returns what a replica decides by. Keeps in `state` since when it knows the newest CA, and that it is trusted. */
export function knownOf(own: OwnCertificates, state: ReplicaState, { authorities, key }: Held): KnownCertificates {
  const nowMs = Date.now();
  const [newest] = authorities;
  const { seenMs, trustedMs } = newest === undefined ? { seenMs: nowMs } : sinceWhen(own, state, newest);
  const leaf = state.leaf && { ...state.leaf, authority: state.leaf.authority.id };
  const lost = lostAuthorities(state, authorities);
  return { nowMs, authorities, canSign: key !== undefined, seenMs, trustedMs, lost, leaf };
}

/**
 * A configuration that does not exist counts as trusting, because then nobody calls the webhook. One that was not read
 * does not.
 */
function sinceWhen(own: OwnCertificates, state: ReplicaState, newest: Authority) {
  const nowMs = Date.now();
  const { configuration } = state;
  const isTrusted =
    configuration !== undefined && (configuration.now === undefined || trusts(configuration.now, own, newest));
  const before = state.newest?.id === newest.id ? state.newest : { seenMs: nowMs, trustedMs: undefined };
  const trustedMs = isTrusted ? (before.trustedMs ?? nowMs) : undefined;
  state.newest = { id: newest.id, seenMs: before.seenMs, trustedMs };
  return state.newest;
}

/**
 * Returns the CAs that are not in the Secret, but that signed what a replica may serve: this one, or another one, which
 * the caBundle then trusts. Those that have expired are left out.
 */
export function lostAuthorities(
  { leaf, configuration }: ReplicaState,
  held: readonly Authority[],
): readonly Authority[] {
  const all = [...(leaf === undefined ? [] : [leaf.authority]), ...bundledAuthorities(configuration?.now)];
  const byId = new Map(all.map((authority) => [authority.id, authority]));
  const isHeld = new Set(held.map(({ id }) => id));
  return [...byId.values()].filter((one) => !isHeld.has(one.id) && !isExpired(one, Date.now()));
}

/** Creates a certificate, signed with the Secret's newest CA. Its key is nowhere but in this process. */
export function signLeaf(own: OwnCertificates, { authorities: [authority], key }: Held): Leaf {
  if (authority === undefined || key === undefined) throw new Error("a CA that cannot sign is renewed first");
  const host = `${own.name}.${own.namespace}.svc`;
  const names = [...new Set([host, `${host}.cluster.local`, ...(own.names ?? [])])];
  const pair = issueServing(names, lifeFrom(Date.now(), LEAF_MS), { cert: authority.cert, key });
  return { ...(readLife(pair) as Life), ...pair, authority };
}
