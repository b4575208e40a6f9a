import type { ApiClient } from "../api/client.ts";
import type { RotationPolicy } from "./core/rotation.ts";
import { canonicalName } from "./held.ts";

/** How ebb keeps certificates of its own: where, for which names, and for how long each is valid. */
export interface OwnCertificates {
  readonly api: ApiClient;
  readonly namespace: string;
  /** The name of the Secret in `namespace` that all replicas keep and serve from. */
  readonly secret: string;
  /** The name of the webhook's Service. */
  readonly service: string;
  /** Host names and IP addresses that a certificate is for beside the Service's. */
  readonly names?: readonly string[] | undefined;
  /** The name of the MutatingWebhookConfiguration. */
  readonly webhooks: string;
  /** How long a serving certificate is valid. */
  readonly validityMs: number;
  /** How long a CA is valid. */
  readonly authorityValidityMs: number;
}

const HOUR_MS = 3_600_000;
/** How long API servers may take to learn of a new CA. */
const SETTLE_MS = 10_000;
/** How far clocks may differ. */
const SKEW_MS = 300_000;

/** Returns the API path of a namespace's Secrets. */
export function secretsPath({ namespace }: Pick<OwnCertificates, "namespace">): string {
  return `/api/v1/namespaces/${namespace}/secrets`;
}

/**
 * Returns the names that certificates must be for, and the waiting times of a rotation: the shorter certificates live,
 * the shorter these are.
 */
export function policyOf({
  service,
  namespace,
  names = [],
  validityMs,
  authorityValidityMs,
}: OwnCertificates): RotationPolicy {
  const settleMs = Math.min(SETTLE_MS, authorityValidityMs / 20);
  const host = `${service}.${namespace}.svc`;
  return {
    names: [host, `${host}.cluster.local`, ...names].map(canonicalName),
    settleMs,
    skewMs: SKEW_MS,
    patienceMs: backdate(authorityValidityMs) + 6 * settleMs,
    retainMs: backdate(validityMs) + Math.min(HOUR_MS, authorityValidityMs / 10),
  };
}

/**
 * Returns the validity of a certificate that is created now, in milliseconds since the epoch. It begins up to 5 min
 * (SKEW_MS) in the past, at most a tenth of `validityMs`, because clients' clocks may be late.
 */
export function lifeFrom(nowMs: number, validityMs: number): { fromMs: number; untilMs: number } {
  return { fromMs: nowMs - backdate(validityMs), untilMs: nowMs + validityMs };
}

function backdate(validityMs: number): number {
  return Math.min(SKEW_MS, validityMs / 10);
}
