import { createPrivateKey, X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import type { KubeObject } from "../api/client.ts";
import type { Held, Life, Serving } from "./core/rotation.ts";

// What is in the Secret, read without trust in it: whatever cannot be used counts as absent.

/** The common name of every CA that ebb makes, which tells them from others in a caBundle. */
export const AUTHORITY_NAME = "ebb webhook CA";

/** A certificate and its private key, in PEM. */
export interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

/** What a TLS server serves, in PEM: the server's certificate, then its chain; and its private key. */
export interface ServingCertificate {
  readonly cert: string;
  readonly key: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** A CA: its certificate in PEM, its validity, and as `id` its SHA-256 fingerprint. */
export interface Authority extends Life {
  readonly cert: string;
}

/** A serving certificate with its key, its validity, and the CA that signed it. */
export interface HeldServing extends Serving, KeyPair {}

/** The usable certificates and keys in the Secret. */
export interface HeldCertificates extends Held {
  readonly authorities: readonly Authority[];
  /** The private key of the newest CA, in PEM; undefined if `canSign` is false. */
  readonly authorityKey: string | undefined;
  readonly serving: HeldServing | undefined;
}

/** The Secret. The values of `data` are base64. */
export interface Secret extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

/** The Secret's keys: those of type kubernetes.io/tls, and the CA's certificates and private key. */
export const KEYS = { ca: "ca.crt", caKey: "ca.key", cert: "tls.crt", key: "tls.key" } as const;

type Texts = Readonly<Record<keyof typeof KEYS, string>>;

/** Reads certificates and keys from the webhook's Secret. What is missing or cannot be parsed is left out. */
export function readSecret(secret: Secret | undefined): HeldCertificates {
  return readHeld(decodeSecret(secret));
}

/** Decodes the Secret's texts from base64. Those that it lacks are empty. */
export function decodeSecret(secret: Secret | undefined): Texts {
  const text = (key: string): string => Buffer.from(String(secret?.data?.[key] ?? ""), "base64").toString();
  return { ca: text(KEYS.ca), caKey: text(KEYS.caKey), cert: text(KEYS.cert), key: text(KEYS.key) };
}

/**
 * Parses the PEM texts of the Secret. Authorities keep the bundle's order, the newest first. `canSign` is true if
 * `caKey` is the key of the newest. `serving` is undefined unless `key` is the key of the first certificate in `cert`.
 */
export function readHeld({ ca, caKey, cert, key }: Texts): HeldCertificates {
  const authorities = readAuthorities(ca);
  const [newest] = authorities;
  const canSign = newest !== undefined && isPair({ cert: newest.cert, key: caKey });
  return {
    authorities,
    canSign,
    authorityKey: canSign ? caKey : undefined,
    serving: readServing({ cert, key }, authorities),
  };
}

/** Parses the CA certificates of a PEM bundle, in order. Skips everything else. */
export function readAuthorities(bundle: string): readonly Authority[] {
  return certificatesIn(bundle)
    .filter(({ x509 }) => x509.ca)
    .map(({ x509, cert }) => ({ ...lifeOf(x509), cert }));
}

/** Reports whether ebb made this CA, by its name (AUTHORITY_NAME). */
export function isEbbAuthority({ cert }: Authority): boolean {
  return new X509Certificate(cert).subject === `CN=${AUTHORITY_NAME}`;
}

/**
 * Returns when the first certificate of a PEM text expires, in milliseconds since the epoch; undefined if there is none
 * or the key is not its own.
 */
export function expiryOf(pair: KeyPair): number | undefined {
  const [first] = certificatesIn(pair.cert);
  return first !== undefined && isPair({ cert: first.cert, key: pair.key }) ? lifeOf(first.x509).untilMs : undefined;
}

function readServing(pair: KeyPair, authorities: readonly Authority[]): HeldServing | undefined {
  const [leaf] = certificatesIn(pair.cert);
  if (leaf === undefined || !isPair({ cert: leaf.cert, key: pair.key })) return undefined;
  const signer = authorities.find(({ cert }) => leaf.x509.verify(new X509Certificate(cert).publicKey));
  return { ...lifeOf(leaf.x509), ...pair, authority: signer?.id, names: namesOf(leaf.x509) };
}

function certificatesIn(text: string): readonly { readonly x509: X509Certificate; readonly cert: string }[] {
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return blocks.flatMap((block) => {
    try {
      return [{ x509: new X509Certificate(block), cert: `${block}\n` }];
    } catch {
      return []; // it counts as absent, and is replaced
    }
  });
}

function isPair({ cert, key }: KeyPair): boolean {
  try {
    return new X509Certificate(cert).checkPrivateKey(createPrivateKey(key));
  } catch {
    return false; // it is not a key
  }
}

function lifeOf({ fingerprint256, validFrom, validTo }: X509Certificate): Life {
  return {
    id: fingerprint256.replaceAll(":", "").toLowerCase(),
    fromMs: Date.parse(validFrom),
    untilMs: Date.parse(validTo),
  };
}

function namesOf({ subjectAltName = "" }: X509Certificate): readonly string[] {
  return subjectAltName.split(", ").map((name) => canonicalName(name.replace(/^(DNS|IP Address):/, "")));
}

/**
 * Returns a host name or IP address in the form in which it can be compared: `::1` for `0:0:0:0:0:0:0:1`, lower case.
 */
export function canonicalName(name: string): string {
  return isIP(name) === 6 ? new URL(`http://[${name}]`).hostname.slice(1, -1) : name.toLowerCase();
}
