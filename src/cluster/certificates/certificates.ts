import { describeSystemError } from "../../shared/core/system-error.ts";
import { MiB, readFileWithin } from "../../shared/io/input.ts";
import { createQueue } from "../../shared/io/queue.ts";
import type { Context } from "../api/context.ts";
import { pause } from "../controller/pause.ts";
import { keepCertificates } from "./authority.ts";
import { readLife, type ServingCertificate } from "./held.ts";
import type { OwnCertificates } from "./own-certificates.ts";

/** The source of the webhook's certificates: PEM files, or ebb's own CA, which it keeps in a Secret. */
export type CertificateSettings =
  | ({ readonly kind: "files" } & CertificateFiles)
  | ({ readonly kind: "own" } & OwnCertificates);

/** A certificate to serve from now on, or why there is none; undefined: nothing is known to be wrong. */
export type CertificateNews = ServingCertificate | { readonly problem: string | undefined };

/**
 * Yields each certificate to serve, the first as soon as there is one, until the signal is aborted; in between, why there
 * is no other. With `own` this replica also keeps the CA. Logs failures that may pass (no API server, a
 * missing permission, a broken Secret or file) and tries again; throws only on a bug.
 */
export function watchCertificates(settings: CertificateSettings, context: Context): AsyncGenerator<CertificateNews> {
  return settings.kind === "files" ? watchCertificateFiles(settings, context) : ownCertificates(settings, context);
}

/** Yields the certificates that this replica signs with the CA in the Secret, which all replicas keep. */
async function* ownCertificates(own: OwnCertificates, { log, signal }: Context): AsyncGenerator<CertificateNews> {
  const stop = new AbortController();
  const events = createQueue<CertificateNews | "end">();
  const done = keepCertificates(own, {
    serve: ({ cert, key, untilMs }) => events.push({ cert, key, expiresAt: untilMs }),
    failed: (error) => events.push({ problem: error?.message }),
    log,
    signal: AbortSignal.any([signal, stop.signal]),
  }).then(() => events.push("end"), events.fail);
  try {
    for (let news = await events.next(); news !== "end"; news = await events.next()) yield news;
  } finally {
    stop.abort();
    await done;
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
    const life = readLife({ cert, key });
    if (life !== undefined) return { cert, key, expiresAt: life.untilMs };
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
