import { type Plan, type RotationPolicy, renewalOf, unexpired } from "./core/rotation.ts";
import { type Authority, type HeldCertificates, KEYS, type KeyPair, readAuthorities, type Secret } from "./held.ts";
import { lifeFrom, type OwnCertificates } from "./own-certificates.ts";

// The Secret that all replicas serve from.

/**
 * The most CAs that are trusted at a time. Usually it is one; a Secret that somebody breaks again and again adds one
 * each time.
 */
const MANY = 20;

/**
 * Creates the certificates that a plan asks for, and resolves with the Secret to write. Neither writes it nor changes
 * the arguments. CAs that have expired, or that are retired, are left out. Rejects if the plan keeps a CA without its
 * key.
 */
export async function renewedSecret(
  own: OwnCertificates,
  { secret, held, plan, policy, nowMs }: Renewal,
): Promise<Secret> {
  const { authority, serving } = plan.kind === "renew" ? plan : {};
  const issuing = await import("./issue.ts"); // few processes ever need it: a renewal happens once in weeks
  const made = authority === undefined ? undefined : issuing.issueAuthority(lifeFrom(nowMs, own.authorityValidityMs));
  const pair = made ?? newestPair(held);
  const kept = plan.kind === "retire" ? held.authorities.slice(0, 1) : unexpired(held.authorities, nowMs, policy);
  const authorities = [...(made === undefined ? [] : readAuthorities(made.cert)), ...kept].slice(0, MANY);
  const served =
    serving === undefined
      ? held.serving
      : issuing.issueServing(namesFor(policy, held, nowMs), lifeFrom(nowMs, own.validityMs), pair);
  return withData(secret ?? emptySecret(own), { authorities, key: pair.key, served });
}

/** What to renew, and what there is. */
export interface Renewal {
  /** The Secret as it is; undefined: it does not exist. */
  readonly secret: Secret | undefined;
  readonly held: HeldCertificates;
  readonly plan: Exclude<Plan, { kind: "keep" }>;
  readonly policy: RotationPolicy;
  readonly nowMs: number;
}

/**
 * Returns the names for a new certificate. If one is replaced early, its names stay: during a rollout that changes
 * --certificate-names, replicas would otherwise take each other's names away all the time.
 */
function namesFor({ names }: RotationPolicy, { serving }: HeldCertificates, nowMs: number): readonly string[] {
  const isEarly = serving?.authority !== undefined && nowMs < renewalOf(serving);
  return isEarly ? [...new Set([...names, ...serving.names])] : names;
}

function newestPair({ authorities: [newest], authorityKey }: HeldCertificates): KeyPair {
  if (newest === undefined || authorityKey === undefined) throw new Error("a CA that cannot sign is renewed first");
  return { cert: newest.cert, key: authorityKey };
}

interface Contents {
  readonly authorities: readonly Authority[];
  readonly key: string;
  /** Undefined: none yet, because the API server does not trust the new CA. */
  readonly served: KeyPair | undefined;
}

function withData(secret: Secret, { authorities, key, served }: Contents): Secret {
  const ca = authorities.map(({ cert }) => cert).join("");
  const texts = { [KEYS.ca]: ca, [KEYS.caKey]: key, [KEYS.cert]: served?.cert ?? "", [KEYS.key]: served?.key ?? "" };
  const data = Object.entries(texts).map(([name, text]) => [name, Buffer.from(text).toString("base64")] as const);
  return { ...secret, data: { ...secret.data, ...Object.fromEntries(data) } };
}

function emptySecret({ namespace, secret: name }: OwnCertificates): Secret {
  const labels = { "app.kubernetes.io/managed-by": "ebb" };
  return { apiVersion: "v1", kind: "Secret", type: "Opaque", metadata: { name, namespace, labels } };
}
