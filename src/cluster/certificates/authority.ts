import { isConflict } from "../api/api-error.ts";
import type { Context } from "../api/context.ts";
import type { Secret, WebhookConfiguration } from "../api/core/objects.ts";
import { followObject } from "../controller/follow.ts";
import { keepTrying } from "../controller/keep-trying.ts";
import { createNotifier, type Notifier } from "../controller/pause.ts";
import { bundlePatch, CONFIGURATIONS, isFilledByOthers } from "./ca-bundle.ts";
import { planCertificates, type RotationStep } from "./core/rotation.ts";
import { secretName } from "./core/secret-name.ts";
import { type Authority, type Held, readSecret } from "./held.ts";
import type { OwnCertificates } from "./own-certificates.ts";
import { knownOf, type Leaf, lostAuthorities, type ReplicaState, signLeaf } from "./replica-state.ts";
import { getSecret, heldAfter, secretsPath, type Writing, writeSecret } from "./secret.ts";

// Each replica keeps a CA in the Secret and in the caBundle of the webhook configuration, and serves a certificate of
// its own that the CA has signed. It is level based: each round looks at what there is, does the next thing, and another
// round follows when something changed or is due. Replicas want the same at the same time: what one of them writes makes
// the writes of the others fail with a Conflict, because these name the version that they have seen.

const HOUR_MS = 3_600_000;
/** How long to wait for the webhook configuration. An account that may not read it gets certificates all the same. */
const CONFIGURATION_MS = 2000;
/** The shortest time between two writes of an object: no hot loop with somebody who writes the same field. */
const PACE_MS = 1000;
/** How long to wait after a Conflict if the watch does not show what the other wrote. */
const CONFLICT_MS = 5000;

/** Who is told of the certificates. */
interface Keeping extends Context {
  /** Called with each certificate to serve from now on. */
  readonly serve: (leaf: Leaf) => void;
  /** Called whenever the Secret was read, with undefined; and at each failure to read it or to write, logged or not. */
  readonly failed: (error: Error | undefined) => void;
}

/**
 * Keeps the CA in the Secret and the caBundle of the webhook configuration up to date, and signs certificates, until the
 * signal is aborted; each replica runs it. Logs API failures and tries again after 0.5 to 30 s; rejects only on a bug.
 */
export async function keepCertificates(own: OwnCertificates, { serve, failed, ...context }: Keeping): Promise<void> {
  const state: ReplicaState = { sinceMs: Date.now() };
  const notifier = createNotifier();
  const learn = (news: Pick<ReplicaState, "secret" | "configuration">): void => {
    Object.assign(state, news);
    notifier.notify();
  };
  const saw = (now: Secret | undefined): void => {
    failed(undefined);
    learn({ secret: { now } });
  };
  const secret = { collection: secretsPath(own), name: secretName(own.name) };
  const configuration = { collection: CONFIGURATIONS, name: own.name };
  await Promise.all([
    followObject<Secret>(own.api, secret, saw, { failed, ...context }),
    followObject<WebhookConfiguration>(own.api, configuration, (now) => learn({ configuration: { now } }), context),
    goRound(own, { state, notifier, serve, failed, ...context }),
  ]);
}

interface Round extends Context, Pick<Keeping, "serve"> {
  readonly state: ReplicaState;
}

interface Rounds extends Round, Pick<Keeping, "failed"> {
  readonly notifier: Notifier;
}

async function goRound(own: OwnCertificates, { notifier, failed, ...round }: Rounds): Promise<void> {
  const { log, signal } = round;
  const rounds = async (): Promise<void> => {
    while (!signal.aborted) {
      const untilMs = await reconcileCertificates(own, round).catch((error: unknown) => {
        if (!isConflict(error)) throw error;
        return Date.now() + CONFLICT_MS;
      });
      await notifier.wait(Math.min(untilMs - Date.now(), HOUR_MS), signal); // clocks jump: look now and then
    }
  };
  const { wait } = notifier; // a Secret that is installed again is filled at once
  await keepTrying(rounds, { message: "cannot update the certificates", failed, wait, log, signal });
}

/**
 * Does the next step: signs a certificate, or writes what is due into the Secret or, if nothing is, the CAs into the
 * caBundle. Changes `state`, and logs what it did. Resolves with when to call it again, in milliseconds since the epoch;
 * Infinity: after the next change. Rejects with ApiError, a Conflict if somebody else wrote meanwhile.
 */
export async function reconcileCertificates(own: OwnCertificates, round: Round): Promise<number> {
  const { state, serve } = round;
  const nowMs = Date.now();
  if (state.secret === undefined) return Number.POSITIVE_INFINITY;
  const readByMs = state.sinceMs + CONFIGURATION_MS;
  if (state.configuration === undefined && nowMs < readByMs) return readByMs;
  const held = readSecret(state.secret.now);
  const plan = planCertificates(knownOf(own, state, held));
  if (plan.kind === "keep") return Math.min(plan.untilMs, await spreadTrust(own, held.authorities, round));
  if (plan.kind !== "sign") return await change(own, plan, held, round);
  state.leaf = signLeaf(own, held);
  serve(state.leaf);
  return nowMs;
}

/** Writes what is planned into the Secret. Resolves with when to look again, in milliseconds since the epoch. */
async function change(
  own: OwnCertificates,
  plan: RotationStep & { readonly kind: Writing },
  held: Held,
  { state, log, signal }: Round,
): Promise<number> {
  const nowMs = Date.now();
  if (isTooSoon(state.wroteMs, nowMs)) return nowMs + PACE_MS;
  const after = heldAfter(plan.kind, held, lostAuthorities(state, held.authorities));
  state.secret = { now: await writeSecret(own, state.secret?.now, after, signal) };
  state.wroteMs = nowMs;
  if (plan.kind === "renew") log.info({ reason: plan.why }, "created a CA");
  if (plan.kind === "restore") log.info({ authorities: after.authorities.length }, "restored CAs in the Secret");
  if (plan.kind === "retire") log.info({}, "retired the old CA");
  return nowMs;
}

/**
 * Writes the CAs into the caBundle if it has others. Resolves with when to look again, in milliseconds since the epoch;
 * Infinity: after the next change.
 */
async function spreadTrust(
  own: OwnCertificates,
  authorities: readonly Authority[],
  { state, log, signal }: Round,
): Promise<number> {
  const configuration = state.configuration?.now;
  if (configuration === undefined) return Number.POSITIVE_INFINITY;
  const webhooks = own.name;
  if (isFilledByOthers(configuration)) {
    if (!state.isWarned) log.warn({ webhooks }, "cert-manager manages the caBundle: set --cert-dir");
    state.isWarned = true;
    return Number.POSITIVE_INFINITY;
  }
  const patch = bundlePatch(configuration, own, authorities);
  if (patch.length === 0) return Number.POSITIVE_INFINITY;
  const nowMs = Date.now();
  if (isTooSoon(state.spreadMs, nowMs)) return nowMs + PACE_MS;
  if (!(await isLatest(own, state, signal))) return nowMs;
  const path = `${CONFIGURATIONS}/${webhooks}`;
  state.configuration = { now: await own.api.patch<WebhookConfiguration>(path, patch, { signal, retries: 0 }) };
  state.spreadMs = nowMs;
  log.info({ webhooks, authorities: authorities.length }, "updated the caBundle of the webhook configuration");
  return nowMs;
}

/**
 * Reads the Secret, and reports whether it is the one in `state`; otherwise puts it there. No newer CA is dropped: who adds
 * one after this read changes the configuration, and our patch conflicts.
 */
async function isLatest(own: OwnCertificates, state: ReplicaState, signal: AbortSignal): Promise<boolean> {
  const now = await getSecret(own, signal);
  const isSame = now?.metadata.resourceVersion === state.secret?.now?.metadata.resourceVersion;
  if (!isSame) state.secret = { now };
  return isSame;
}

function isTooSoon(lastMs: number | undefined, nowMs: number): boolean {
  return lastMs !== undefined && Math.abs(nowMs - lastMs) < PACE_MS;
}
