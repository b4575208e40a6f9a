import { type Plan, type RotationPolicy, unexpired } from "../../core/cluster/rotation.ts";
import { type Authority, type HeldCertificates, KEYS, type KeyPair, readAuthorities, type Secret } from "./held.ts";
import { lifeFrom, type OwnCertificates } from "./own-certificates.ts";

// The Secret that all replicas serve from.

/** Of CAs that are trusted at a time, for a Secret that somebody breaks again and again; usually it is one. */
const MANY = 20;

/** Carries out a plan: creates the certificates, and resolves to the Secret to write. */
export async function renewedSecret(
  own: OwnCertificates,
  { secret, held, plan, policy, nowMs }: Renewal,
): Promise<Secret> {
  const { authority, serving } = plan.kind === "renew" ? plan : {};
  const issuing = await import("./issue.ts"); // few processes ever need it: a renewal is once in weeks
  const made = authority === undefined ? undefined : issuing.issueAuthority(lifeFrom(nowMs, own.authorityValidityMs));
  const pair = made ?? newestPair(held);
  const kept = plan.kind === "retire" ? held.authorities.slice(0, 1) : unexpired(held.authorities, nowMs, policy);
  const authorities = [...(made === undefined ? [] : readAuthorities(made.cert)), ...kept].slice(0, MANY);
  const served =
    serving === undefined ? held.serving : issuing.issueServing(policy.names, lifeFrom(nowMs, own.validityMs), pair);
  return withData(secret ?? emptySecret(own), { authorities, key: pair.key, served });
}

export interface Renewal {
  readonly secret: Secret | undefined;
  readonly held: HeldCertificates;
  readonly plan: Exclude<Plan, { kind: "keep" }>;
  readonly policy: RotationPolicy;
  readonly nowMs: number;
}

function newestPair({ authorities: [newest], authorityKey }: HeldCertificates): KeyPair {
  if (newest === undefined || authorityKey === undefined) throw new Error("a CA that cannot sign is renewed first");
  return { cert: newest.cert, key: authorityKey };
}

interface Contents {
  readonly authorities: readonly Authority[];
  readonly key: string;
  /** Undefined: not before the API server trusts the new CA. */
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
