import type { RotationPolicy } from "../../core/cluster/rotation.ts";
import type { ApiClient } from "../api/client.ts";
import { canonicalName } from "./held.ts";

/** Certificates of our own: where they are kept, whom they are for, how long they live. */
export interface OwnCertificates {
  readonly api: ApiClient;
  readonly namespace: string;
  readonly secret: string;
  readonly lease: string;
  readonly service: string;
  /** Host names and addresses beyond the Service's. */
  readonly names?: readonly string[] | undefined;
  /** The MutatingWebhookConfiguration's name. */
  readonly webhooks: string;
  readonly validityMs: number;
  readonly authorityValidityMs: number;
  /** One replica's alone, for the Lease. */
  readonly identity: string;
}

const HOUR_MS = 3_600_000;
const SETTLE_MS = 10_000;
const SKEW_MS = 300_000;

/** Returns the API path of a namespace's Secrets. */
export function secretsPath({ namespace }: Pick<OwnCertificates, "namespace">): string {
  return `/api/v1/namespaces/${namespace}/secrets`;
}

/** Returns when certificates are renewed and how often to look: the shorter they live, the more often. */
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

/** Returns a certificate's validity. It begins a little in the past, because clients' clocks may be late. */
export function lifeFrom(nowMs: number, validityMs: number): { fromMs: number; untilMs: number } {
  return { fromMs: nowMs - backdate(validityMs), untilMs: nowMs + validityMs };
}

function backdate(validityMs: number): number {
  return Math.min(SKEW_MS, validityMs / 10);
}
