import { ownAuthorities, trusts, type WebhookConfiguration } from "./ca-bundle.ts";
import { type Authority, decodeSecret, type HeldCertificates, readHeld, readSecret, type Secret } from "./held.ts";
import type { OwnCertificates } from "./own-certificates.ts";

/** What a leader knows; undefined: nobody has told it yet. */
export interface AuthorityState {
  readonly sinceMs: number;
  secret?: { readonly now: Secret | undefined };
  configuration?: { readonly now: WebhookConfiguration | undefined };
  /** The last that was whole: outlives a Secret that is deleted or broken. */
  last?: HeldCertificates;
  trusted?: { readonly id: string; readonly sinceMs: number } | undefined;
  /** When the Secret, and when the configuration was last written. */
  renewedMs?: number;
  spreadMs?: number;
  isWarned?: boolean;
}

/**
 * Returns the certificates to go on with: the Secret's, or where it is broken the last known ones, which the replicas still serve.
 * A deleted Secret asks for another CA.
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
 * Returns since when the webhook's configuration trusts the newest CA. Without a configuration nobody asks the webhook: then all
 * counts as trusted.
 */
export function trustedSince(
  own: OwnCertificates,
  known: AuthorityState,
  newest: Authority | undefined,
): number | undefined {
  const { configuration } = known;
  const isTrusted =
    newest !== undefined &&
    configuration !== undefined &&
    (configuration.now === undefined || trusts(configuration.now, own, newest));
  if (!isTrusted) known.trusted = undefined;
  else if (known.trusted?.id !== newest.id) known.trusted = { id: newest.id, sinceMs: Date.now() };
  return known.trusted?.sinceMs;
}
