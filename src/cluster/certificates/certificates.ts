import { describeSystemError } from "../../shared/core/system-error.ts";
import { MiB, readFileWithin } from "../../shared/io/input.ts";
import { createQueue, type Queue } from "../../shared/io/queue.ts";
import type { Context } from "../api/context.ts";
import { pause } from "../controller/pause.ts";
import { keepCertificates } from "./authority.ts";
import { expiryOf, readSecret, type Secret, type ServingCertificate } from "./held.ts";
import type { OwnCertificates } from "./own-certificates.ts";

/** The source of the webhook's certificates: PEM files, or ebb's own CA, which it keeps in a Secret. */
export type CertificateSettings =
  | ({ readonly kind: "files" } & CertificateFiles)
  | ({ readonly kind: "own" } & OwnCertificates);

/** A certificate to serve from now on, or why there is none; undefined: nothing is known to be wrong. */
export type CertificateNews = ServingCertificate | { readonly problem: string | undefined };

/**
 * Yields each certificate to serve, the first as soon as there is one, until the signal is aborted; in between, why there
 * is no other. With `own` this replica also renews the certificates. Logs failures that may pass (no API server, a
 * missing permission, a broken Secret or file) and tries again; throws only on a bug.
 */
export function watchCertificates(settings: CertificateSettings, context: Context): AsyncGenerator<CertificateNews> {
  return settings.kind === "files" ? watchCertificateFiles(settings, context) : ownCertificates(settings, context);
}

type Event = { readonly secret: Secret | undefined } | { readonly problem: string } | "end";

/** Yields the certificate in the Secret, which all replicas keep and serve. */
async function* ownCertificates(own: OwnCertificates, { log, signal }: Context): AsyncGenerator<CertificateNews> {
  const stop = new AbortController();
  const events = createQueue<Event>();
  const done = keepCertificates(own, {
    seen: (secret) => events.push({ secret }),
    failed: ({ message }) => events.push({ problem: message }),
    log,
    signal: AbortSignal.any([signal, stop.signal]),
  }).then(() => events.push("end"), events.fail);
  try {
    yield* servable(events);
  } finally {
    stop.abort();
    await done;
  }
}

/** Yields each new usable certificate. If the Secret is missing or broken, the last one is served on. */
async function* servable(events: Pick<Queue<Event>, "next">): AsyncGenerator<CertificateNews> {
  let last: string | undefined;
  for (let event = await events.next(); event !== "end"; event = await events.next()) {
    if ("problem" in event) {
      yield event;
      continue;
    }
    const { serving } = readSecret(event.secret);
    if (serving?.authority === undefined) yield { problem: undefined };
    else if (serving.id !== last) {
      last = serving.id;
      yield { cert: serving.cert, key: serving.key, expiresAt: serving.untilMs };
    }
  }
}

/** Paths of PEM files: a certificate with its chain, and its key, as in a mounted Secret of cert-manager. */
interface CertificateFiles {
  readonly cert: string;
  readonly key: string;
}

/**
 * How often to read the files, which costs next to nothing. The kubelet swaps both at once by a symbolic link, up to a
 * minute after the Secret changed.
 */
const PERIOD_MS = 1000;

/**
 * Reads the files every second, and yields each new pair, until the signal is aborted. While they have no valid pair,
 * because they are wrong or being replaced, it yields and logs each reason once.
 */
async function* watchCertificateFiles(
  files: CertificateFiles,
  { log, signal }: Context,
): AsyncGenerator<CertificateNews> {
  let last: string | undefined;
  let complaint: string | undefined;
  while (!signal.aborted) {
    const read = await readPair(files);
    const problem = "problem" in read ? read.problem : undefined;
    if (problem !== undefined && problem !== complaint) {
      log.warn({ reason: problem }, "cannot use the certificate");
      yield { problem };
    }
    complaint = problem;
    if (!("problem" in read) && read.cert !== last) {
      last = read.cert;
      yield read;
    }
    await pause(PERIOD_MS, signal);
  }
}

async function readPair({
  cert: certPath,
  key: keyPath,
}: CertificateFiles): Promise<ServingCertificate | { problem: string }> {
  try {
    const [cert, key] = [readPem(certPath), readPem(keyPath)];
    const expiresAt = expiryOf({ cert, key });
    if (expiresAt !== undefined) return { cert, key, expiresAt };
    return { problem: `${certPath} is not a PEM certificate, or does not belong to the key in ${keyPath}` };
  } catch (error) {
    return { problem: (error as Error).message };
  }
}

function readPem(path: string): string {
  try {
    return readFileWithin(path, MiB);
  } catch (cause) {
    throw new Error(`${path}: ${describeSystemError(cause)}`, { cause });
  }
}
