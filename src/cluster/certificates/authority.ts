import { EXIT, Failure } from "../../shared/core/exit.ts";
import { isConflict, isNotFound, lacksRight } from "../api/api-error.ts";
import type { Context } from "../api/context.ts";
import { followObject } from "../controller/follow.ts";
import { keepTrying } from "../controller/keep-trying.ts";
import { createNotifier, type Notifier } from "../controller/pause.ts";
import { type AuthorityState, recall, trustedSince } from "./authority-state.ts";
import { bundlePatch, CONFIGURATIONS, isFilledByOthers, type WebhookConfiguration } from "./ca-bundle.ts";
import { type Plan, planRotation } from "./core/rotation.ts";
import type { Authority, Secret } from "./held.ts";
import { type OwnCertificates, policyOf, secretsPath } from "./own-certificates.ts";
import { renewedSecret } from "./secret.ts";

// Each replica keeps a CA and a serving certificate in the Secret, and the CA in the caBundle of the webhook
// configuration. It is level based: each round looks at what there is, does the next thing, and another round follows
// when something changed or is due. Replicas want the same at the same time: what one of them writes makes the writes of
// the others fail with a Conflict, because these name the version that they have seen.

const HOUR_MS = 3_600_000;
/** How long to wait for the webhook configuration. An account that may not read it gets certificates all the same. */
const PATIENCE_MS = 2000;
/** The shortest time between two writes of an object: no hot loop with somebody who writes the same field. */
const PACE_MS = 1000;
/** How long to wait after a Conflict if the watch does not show what the other wrote. */
const CONFLICT_MS = 5000;

/** Who is told of the Secret. */
export interface Keeping extends Context {
  /** Called with the Secret at once and at each change; with undefined if it does not exist. */
  readonly seen: (secret: Secret | undefined) => void;
  /** Called at each failure to read the Secret or to write, logged or not. */
  readonly failed: (error: Error) => void;
}

/**
 * Keeps the certificates in the Secret and the caBundle of the webhook configuration up to date until the signal is
 * aborted; each replica runs it. Logs API failures and tries again after 0.5 to 30 s; rejects only on a bug.
 */
export async function keepCertificates(own: OwnCertificates, { seen, failed, ...context }: Keeping): Promise<void> {
  const state: AuthorityState = { sinceMs: Date.now() };
  const notifier = createNotifier();
  const learn = (news: Pick<AuthorityState, "secret" | "configuration">): void => {
    Object.assign(state, news);
    notifier.notify();
  };
  const saw = (now: Secret | undefined): void => {
    seen(now);
    learn({ secret: { now } });
  };
  const secret = { collection: secretsPath(own), name: own.secret };
  const configuration = { collection: CONFIGURATIONS, name: own.webhooks };
  await Promise.all([
    followObject<Secret>(own.api, secret, saw, { failed, ...context }),
    followObject<WebhookConfiguration>(own.api, configuration, (now) => learn({ configuration: { now } }), context),
    goRound(own, { state, notifier, failed, ...context }),
  ]);
}

interface Round extends Context {
  readonly state: AuthorityState;
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
 * Does the next step of a rotation: renews what is due in the Secret or, if nothing is, writes the CAs into the
 * caBundle. Changes `state`, and logs what it did. Resolves with when to call it again, in milliseconds since the
 * epoch; Infinity: after the next change. Rejects with ApiError, a Conflict if somebody else wrote meanwhile.
 */
export async function reconcileCertificates(own: OwnCertificates, { state, log, signal }: Round): Promise<number> {
  const nowMs = Date.now();
  if (state.secret === undefined) return Number.POSITIVE_INFINITY;
  if (state.configuration === undefined && nowMs < state.sinceMs + PATIENCE_MS) return state.sinceMs + PATIENCE_MS;
  const policy = policyOf(own);
  const held = recall(state, state.secret.now);
  const planned = planRotation(held, { nowMs, trustedSinceMs: trustedSince(own, state, held.authorities[0]) }, policy);
  if (planned.kind === "keep") {
    state.last = held;
    const againMs = await spreadTrust(own, held.authorities, { state, log, signal });
    return Math.min(planned.untilMs, againMs);
  }
  if (isTooSoon(state.renewedMs, nowMs)) return nowMs + PACE_MS;
  const secret = await renewedSecret(own, { secret: state.secret.now, held, plan: planned, policy, nowMs });
  state.secret = { now: await write(own, secret, state.secret.now === undefined, signal) };
  state.renewedMs = nowMs;
  logStep(planned, log);
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
  if (isFilledByOthers(configuration)) {
    if (!state.isWarned) log.warn({ webhooks: own.webhooks }, "cert-manager manages the caBundle: set --cert-dir");
    state.isWarned = true;
    return Number.POSITIVE_INFINITY;
  }
  const patch = bundlePatch(configuration, own, authorities);
  if (patch.length === 0) return Number.POSITIVE_INFINITY;
  const nowMs = Date.now();
  if (isTooSoon(state.spreadMs, nowMs)) return nowMs + PACE_MS;
  if (!(await isLatest(own, state, signal))) return nowMs;
  const now = await own.api.patch<WebhookConfiguration>(
    `${CONFIGURATIONS}/${own.webhooks}`,
    patch,
    withoutRetries(signal),
  );
  state.configuration = { now };
  state.spreadMs = nowMs;
  log.info(
    { webhooks: own.webhooks, authorities: authorities.length },
    "updated the caBundle of the webhook configuration",
  );
  return nowMs;
}

/**
 * Reads the Secret, and reports whether it is the one in `state`; otherwise puts it there. Read after the configuration, it
 * keeps an old view from removing a newer CA: a replica that puts one into the caBundle after this, too, changes the
 * configuration, so that the patch fails.
 */
async function isLatest(own: OwnCertificates, state: AuthorityState, signal: AbortSignal): Promise<boolean> {
  const path = `${secretsPath(own)}/${own.secret}`;
  const now = await own.api.get<Secret>(path, withoutRetries(signal)).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
    return undefined;
  });
  const isSame = now?.metadata.resourceVersion === state.secret?.now?.metadata.resourceVersion;
  if (!isSame) state.secret = { now };
  return isSame;
}

const withoutRetries = (signal: AbortSignal) => ({ signal, retries: 0 });

function isTooSoon(lastMs: number | undefined, nowMs: number): boolean {
  return lastMs !== undefined && Math.abs(nowMs - lastMs) < PACE_MS;
}

/**
 * Writes the Secret. One that does not exist is created if the account may do that.
 * @throws ApiError, or Failure(69) if the Secret does not exist and may not be created
 */
async function write(
  { api, namespace, secret }: OwnCertificates,
  body: Secret,
  isNew: boolean,
  signal: AbortSignal,
): Promise<Secret> {
  const secrets = secretsPath({ namespace });
  if (!isNew) return await api.update<Secret>(`${secrets}/${secret}`, body, withoutRetries(signal));
  return await api.create<Secret>(secrets, body, withoutRetries(signal)).catch((error: unknown) => {
    if (!lacksRight(error)) throw error;
    throw new Failure(
      EXIT.unavailable,
      `the Secret ${namespace}/${secret} does not exist: apply the manifests (or helm upgrade) again`,
    );
  });
}

function logStep(planned: Exclude<Plan, { kind: "keep" }>, log: Context["log"]): void {
  if (planned.kind === "retire") return log.info({}, "retired the old CA");
  if (planned.authority !== undefined) log.info({ reason: planned.authority }, "created a CA");
  if (planned.serving !== undefined) log.info({ reason: planned.serving }, "created a serving certificate");
}
