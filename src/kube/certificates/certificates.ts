import { createQueue } from "../../system/queue.ts";
import type { Context } from "../api/context.ts";
import { followObject } from "../controller/follow.ts";
import { lead } from "../controller/lease.ts";
import { keepCertificates } from "./authority.ts";
import { type CertificateFiles, watchCertificateFiles } from "./certificate-files.ts";
import { readSecret, type Secret, type ServingCertificate } from "./held.ts";
import { type OwnCertificates, secretsPath } from "./own-certificates.ts";

/** The source of the webhook's certificates: PEM files, or ebb's own CA, which it keeps in a Secret. */
export type CertificateSettings =
  | ({ readonly kind: "files" } & CertificateFiles)
  | ({ readonly kind: "own" } & OwnCertificates);

/**
 * Yields each certificate to serve, the first as soon as there is one, until the signal is aborted. With `own` this
 * replica also competes for the Lease, to renew the certificates, and releases it at the end. Logs failures that may
 * pass (no API server, a missing permission, a broken Secret or file) and tries again; throws only on a bug.
 */
export function watchCertificates(settings: CertificateSettings, context: Context): AsyncGenerator<ServingCertificate> {
  return settings.kind === "files" ? watchCertificateFiles(settings, context) : ownCertificates(settings, context);
}

type Event = { readonly secret: Secret | undefined } | { readonly error: unknown } | "end";

/** Yields the certificate in the Secret, which all replicas serve. The leader also renews it. */
async function* ownCertificates(own: OwnCertificates, { log, signal }: Context): AsyncGenerator<ServingCertificate> {
  const stop = new AbortController();
  const context = { log, signal: AbortSignal.any([signal, stop.signal]) };
  const events = createQueue<Event>();
  const secret = { collection: secretsPath(own), name: own.secret };
  const { api, namespace, lease: name, identity } = own;
  const work = (leading: AbortSignal) => keepCertificates(own, { log, signal: leading });
  const working = [
    followObject<Secret>(api, secret, (now) => events.push({ secret: now }), context),
    lead({ api, namespace, name, identity }, work, context),
  ];
  const done = Promise.all(working).then(
    () => events.push("end"),
    (error: unknown) => events.push({ error }),
  );
  try {
    yield* servable(events);
  } finally {
    stop.abort();
    await done;
  }
}

/**
 * Yields each new usable certificate. If the Secret is missing or broken, nothing is yielded: the last one is served
 * on.
 */
async function* servable(events: { next(): Promise<Event> }): AsyncGenerator<ServingCertificate> {
  let last: string | undefined;
  for (let event = await events.next(); event !== "end"; event = await events.next()) {
    if ("error" in event) throw event.error;
    const { serving } = readSecret(event.secret);
    if (serving?.authority === undefined || serving.id === last) continue;
    last = serving.id;
    yield { cert: serving.cert, key: serving.key, expiresAt: serving.untilMs };
  }
}
