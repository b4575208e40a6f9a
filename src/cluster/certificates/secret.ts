import { EXIT, Failure } from "../../shared/core/exit.ts";
import { isNotFound, lacksRight } from "../api/api-error.ts";
import type { Secret } from "../api/core/objects.ts";
import { AUTHORITY_MS, isExpired, lifeFrom, type RotationStep } from "./core/rotation.ts";
import { secretName } from "./core/secret-name.ts";
import { type Authority, type Held, KEYS, readAuthorities } from "./held.ts";
import { issueAuthority } from "./issue.ts";
import type { OwnCertificates } from "./own-certificates.ts";

// The Secret that all replicas sign from. Its other values stay: an older ebb serves the tls.crt there.

/**
 * The most CAs that are trusted at a time. Usually it is one; a Secret that somebody breaks again and again adds one
 * each time.
 */
const MANY = 20;

/** What a plan writes into the Secret. */
export type Writing = Extract<RotationStep, { kind: "renew" | "restore" | "retire" }>["kind"];

/** What the Secret is to hold after that. CAs that have expired are left out. */
export function heldAfter(writing: Writing, { authorities, key }: Held, lost: readonly Authority[]): Held {
  const nowMs = Date.now();
  if (writing === "retire") return { authorities: authorities.slice(0, 1), key };
  const made = writing === "renew" ? issueAuthority(lifeFrom(nowMs, AUTHORITY_MS)) : undefined;
  const older = [...authorities, ...lost].filter((one) => !isExpired(one, nowMs));
  const all = [...readAuthorities(made?.cert ?? ""), ...older];
  return { authorities: all.slice(0, MANY), key: made?.key ?? key };
}

/**
 * Writes the Secret, and resolves with it as it is then. One that does not exist is created if the account may do that.
 * Rejects with ApiError, a Conflict if it has changed since it was read; or with Failure(69) if it does not exist and may
 * not be created.
 */
export async function writeSecret(
  own: OwnCertificates,
  before: Secret | undefined,
  held: Held,
  signal: AbortSignal,
): Promise<Secret> {
  const { api, namespace, name } = own;
  const ca = held.authorities.map(({ cert }) => cert).join("");
  const texts = { [KEYS.ca]: ca, [KEYS.caKey]: held.key ?? "" };
  const data = Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString("base64")] as const);
  const body = { ...(before ?? emptySecret(own)), data: { ...before?.data, ...Object.fromEntries(data) } };
  const options = { signal, retries: 0 };
  if (before !== undefined) return await api.update<Secret>(secretPath(own), body, options);
  return await api.create<Secret>(secretsPath(own), body, options).catch((error: unknown) => {
    if (!lacksRight(error)) throw error;
    throw new Failure(
      EXIT.unavailable,
      `the Secret ${namespace}/${secretName(name)} does not exist: apply the manifests (or helm upgrade) again`,
    );
  });
}

/** Reads the Secret; undefined if it does not exist. Rejects with ApiError. */
export async function getSecret(own: OwnCertificates, signal: AbortSignal): Promise<Secret | undefined> {
  return await own.api.get<Secret>(secretPath(own), { signal, retries: 0 }).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
    return undefined;
  });
}

/** Returns the API path of the namespace's Secrets. */
export function secretsPath({ namespace }: Pick<OwnCertificates, "namespace">): string {
  return `/api/v1/namespaces/${namespace}/secrets`;
}

function secretPath(own: OwnCertificates): string {
  return `${secretsPath(own)}/${secretName(own.name)}`;
}

function emptySecret({ namespace, name }: OwnCertificates) {
  const labels = { "app.kubernetes.io/managed-by": "ebb" };
  const metadata = { name: secretName(name), namespace, labels };
  return { apiVersion: "v1", kind: "Secret", type: "Opaque", metadata };
}
