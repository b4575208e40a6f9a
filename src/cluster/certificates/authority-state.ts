import { ownAuthorities, trusts, type WebhookConfiguration } from "./ca-bundle.ts";
import { type Authority, decodeSecret, type HeldCertificates, readHeld, readSecret, type Secret } from "./held.ts";
import type { OwnCertificates } from "./own-certificates.ts";

/** What a replica knows. A field is undefined until it is known. */
export interface AuthorityState {
  /** When this state began, in milliseconds since the epoch, as are the other times. */
  readonly sinceMs: number;
  /** The Secret as last seen; `now` is undefined if it does not exist. */
  secret?: { readonly now: Secret | undefined };
  /** The webhook configuration as last seen; `now` is undefined if it does not exist. */
  configuration?: { readonly now: WebhookConfiguration | undefined };
  /** The last complete certificates, which outlive a Secret that is deleted or broken. */
  last?: HeldCertificates;
  /** The newest CA, and since when the webhook configuration trusts it. */
  trusted?: { readonly id: string; readonly sinceMs: number } | undefined;
  /** When this replica last wrote the Secret. */
  renewedMs?: number;
  /** When it last wrote the webhook configuration. */
  spreadMs?: number;
  /** Whether the log has said that cert-manager manages the caBundle. */
  isWarned?: boolean;
}

/**
 * Returns the certificates to go on with: the Secret's if its newest CA can sign. Otherwise adds the CAs that were last
 * known or that are in the caBundle, because replicas may still serve what those signed, and returns no key, so that a
 * new CA is made. If the Secret was deleted, `distrusted` says so.
 */
export function recall({ last, configuration }: AuthorityState, secret: Secret | undefined): HeldCertificates {
  const held = readSecret(secret);
  if (held.canSign) return held;
  const older = [...(last?.authorities ?? []), ...ownAuthorities(configuration?.now)];
  const bundle = [...held.authorities, ...older].map(({ cert }) => cert);
  const { authorities, serving } = readHeld({ ...decodeSecret(secret), ca: [...new Set(bundle)].join("") });
  return {
    authorities,
    canSign: false,
    authorityKey: undefined,
    serving: serving?.authority === undefined ? last?.serving : serving,
    distrusted: secret === undefined && authorities.length > 0 ? "its Secret was deleted" : undefined,
  };
}

/**
 * Returns since when this replica sees the webhook configuration trust the newest CA, in milliseconds since the epoch;
 * undefined if it does not trust it or was not read yet. A configuration that does not exist counts as trusting,
 * because then nobody calls the webhook. Keeps the result in `state.trusted`.
 */
export function trustedSince(
  own: OwnCertificates,
  state: AuthorityState,
  newest: Authority | undefined,
): number | undefined {
  const { configuration } = state;
  const isTrusted =
    newest !== undefined &&
    configuration !== undefined &&
    (configuration.now === undefined || trusts(configuration.now, own, newest));
  if (!isTrusted) state.trusted = undefined;
  else if (state.trusted?.id !== newest.id) state.trusted = { id: newest.id, sinceMs: Date.now() };
  return state.trusted?.sinceMs;
}
