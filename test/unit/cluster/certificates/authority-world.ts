import { expect, setSystemTime } from "bun:test";
import { ApiError, isConflict } from "../../../../src/cluster/api/api-error.ts";
import type { Secret, WebhookConfiguration } from "../../../../src/cluster/api/core/objects.ts";
import { reconcileCertificates } from "../../../../src/cluster/certificates/authority.ts";
import { CONFIGURATIONS } from "../../../../src/cluster/certificates/ca-bundle.ts";
import { type KeyPair, readAuthorities, readSecret } from "../../../../src/cluster/certificates/held.ts";
import type { OwnCertificates } from "../../../../src/cluster/certificates/own-certificates.ts";
import type { Leaf, ReplicaState } from "../../../../src/cluster/certificates/replica-state.ts";
import { createFakeApi, type FakeApi } from "../fake-api.ts";

// Runs the rounds of two replicas against an API server in memory, with a clock that the test sets.

export const SECRET = "/api/v1/namespaces/ebb/secrets/ebb-certificates";

export const CONFIGURATION = `${CONFIGURATIONS}/ebb`;

export const MINUTE = 60_000;

export const HOUR = 60 * MINUTE;

export const DAY = 24 * HOUR;

const START = Date.parse("2030-01-01T00:00:00Z");

/** A replica, and what it knows. A watch that hangs shows it nothing new. */
export interface Replica {
  own: OwnCertificates;
  state: ReplicaState;
  /** The certificates that it has served, the latest last. */
  served: Leaf[];
  readonly hangs: { secret: boolean; configuration: boolean };
}

/** Two replicas, and the API server that they act on. */
export interface World {
  readonly api: FakeApi;
  readonly own: OwnCertificates;
  readonly replicas: readonly [Replica, Replica];
  readonly log: Parameters<typeof reconcileCertificates>[1]["log"];
  /** What was logged: `MESSAGE: FIELDS`. */
  readonly lines: string[];
  /**
   * The CA bundles (PEM) that the webhook configuration has had, each with the time, in ms since 1970, from which on.
   */
  readonly bundles: { readonly atMs: number; readonly bundle: string }[];
}

/** Creates a world at START, with the system's time set to it, and with a webhook configuration without CA bundle. */
export function createWorld(settings: Partial<OwnCertificates> = {}): World {
  setSystemTime(START);
  const api = createFakeApi();
  const own: OwnCertificates = { api, namespace: "ebb", name: "ebb", ...settings };
  const lines: string[] = [];
  const line = (fields: object, message: string): void => void lines.push(`${message}: ${JSON.stringify(fields)}`);
  const log = { debug: line, info: line, warn: line, error: line, flush: () => undefined };
  apply(api, "");
  const replicas = [createReplica(own), createReplica(own)] as const;
  return { api, own, replicas, log, lines, bundles: [{ atMs: START, bundle: "" }] };
}

/** Creates a replica that has just started. */
function createReplica(own: OwnCertificates): Replica {
  return { own, state: { sinceMs: Date.now() }, served: [], hangs: { secret: false, configuration: false } };
}

/** Starts a replica again: it remembers nothing, and opens new watches. */
export function restart(replica: Replica): void {
  Object.assign(replica, createReplica(replica.own));
}

/** Puts the webhook configuration with this caBundle (base64), as `kubectl apply` of the manifest does. */
export function apply(api: Pick<FakeApi, "put">, caBundle: string): void {
  const service = { name: "ebb", namespace: "ebb" };
  const webhooks = [
    { name: "pods.ebb.dev", clientConfig: { service, caBundle } },
    { name: "others.example", clientConfig: { service: { name: "other", namespace: "ebb" } } },
  ];
  api.put(CONFIGURATION, { metadata: { name: "ebb" }, webhooks });
}

/** Returns the Secret; undefined if there is none. */
export const secretOf = ({ api }: World) => api.objects.get(SECRET) as Secret | undefined;

/** Returns the webhook configuration; undefined if there is none. */
export const configurationOf = ({ api }: World) => api.objects.get(CONFIGURATION) as WebhookConfiguration | undefined;

/** Returns the CA bundle of the webhook configuration as PEM; "" if there is none. */
export const bundleOf = (world: World): string =>
  Buffer.from(configurationOf(world)?.webhooks?.[0]?.clientConfig.caBundle ?? "", "base64").toString();

/** Returns the CAs in the Secret. */
export const heldOf = (world: World) => readSecret(secretOf(world));

/** Returns the `id` of the CA that signed what a replica serves; undefined if it serves nothing. */
export const signerOf = ({ served }: Replica): string | undefined => served.at(-1)?.authority.id;

/** Makes the Secret have this CA alone, as whoever restores another Secret does; its other values stay. */
export function plant(world: World, { cert, key }: KeyPair): string {
  const data = { "ca.crt": Buffer.from(cert).toString("base64"), "ca.key": Buffer.from(key).toString("base64") };
  const before = secretOf(world) ?? { metadata: { name: "ebb-certificates", namespace: "ebb" } };
  world.api.put(SECRET, { ...before, data: { ...before.data, ...data } });
  return readAuthorities(cert)[0]?.id as string;
}

/**
 * Runs the rounds of both replicas at once, a second apart, until they have nothing more to do. Resolves with the time, in
 * ms since 1970, when one of them has to look again. Watches are never late, but may hang. `each` is called after each
 * round. Fails if they do not come to rest within 20 rounds.
 */
export async function look(world: World, each = (): void => undefined): Promise<number> {
  for (let round = 0; ; round++) {
    expect(round).toBeLessThan(20); // else they never come to rest
    for (const { state, hangs } of world.replicas) {
      if (!hangs.secret) state.secret = { now: secretOf(world) };
      if (!hangs.configuration) state.configuration = { now: configurationOf(world) };
    }
    const untilMs = Math.min(...(await Promise.all(world.replicas.map((replica) => reconcile(world, replica)))));
    note(world);
    each();
    if (untilMs > Date.now() + 1000) return untilMs;
    setSystemTime(Date.now() + 1000);
  }
}

async function reconcile({ log }: World, { own, state, served }: Replica): Promise<number> {
  const serve = (leaf: Leaf): void => void served.push(leaf);
  try {
    return await reconcileCertificates(own, { state, serve, log, signal: AbortSignal.timeout(60_000) });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return isConflict(error) ? Number.POSITIVE_INFINITY : Date.now(); // a Conflict: the other one goes on
  }
}

/** Adds the present CA bundle to `bundles` if it has changed. */
function note(world: World): void {
  const bundle = bundleOf(world);
  if (world.bundles.at(-1)?.bundle !== bundle) world.bundles.push({ atMs: Date.now(), bundle });
}
