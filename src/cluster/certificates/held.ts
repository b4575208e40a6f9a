import { createPrivateKey, X509Certificate } from "node:crypto";
import type { Secret } from "../api/core/objects.ts";
import type { Life } from "./core/rotation.ts";

// Certificates in PEM, and those in the Secret, read without trust in them: whatever cannot be used counts as absent.

/** The common name of every CA that ebb makes, which tells them from others in a caBundle. */
export const AUTHORITY_NAME = "ebb webhook CA";

/** A certificate and its private key, in PEM. */
export interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

/** What a TLS server serves, in PEM: the server's certificate, then its chain; and its private key. */
export interface ServingCertificate extends KeyPair {
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** A CA: its certificate in PEM, its validity, and as `id` its SHA-256 fingerprint. */
export interface Authority extends Life {
  readonly cert: string;
}

/** What the Secret holds. */
export interface Held {
  /** The CAs in the bundle's order, the newest first. */
  readonly authorities: readonly Authority[];
  /** The private key of the newest CA, in PEM; undefined if it is missing, or another CA's. */
  readonly key: string | undefined;
}

/** The Secret's keys. */
export const KEYS = { ca: "ca.crt", caKey: "ca.key" } as const;

/** Reads the CAs from the webhook's Secret. What is missing or cannot be parsed is left out. */
export function readSecret(secret: Secret | undefined): Held {
  const text = (key: string): string => Buffer.from(secret?.data?.[key] ?? "", "base64").toString();
  const authorities = readAuthorities(text(KEYS.ca));
  const key = text(KEYS.caKey);
  const [newest] = authorities;
  return { authorities, key: newest !== undefined && isPair({ cert: newest.cert, key }) ? key : undefined };
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

/** Returns the validity of the first certificate of a PEM text; undefined if there is none or the key is not its own. */
export function readLife(pair: KeyPair): Life | undefined {
  const [first] = certificatesIn(pair.cert);
  return first !== undefined && isPair({ cert: first.cert, key: pair.key }) ? lifeOf(first.x509) : undefined;
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
