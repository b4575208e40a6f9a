import { MiB, readFileWithin } from "../../system/input.ts";
import type { Context } from "../api/context.ts";
import { pause } from "../controller/pause.ts";
import { expiryOf, type ServingCertificate } from "./held.ts";

/** Paths of PEM files: a certificate with its chain, and its key, as in a mounted Secret of cert-manager. */
export interface CertificateFiles {
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
 * because they are wrong or being replaced, it yields nothing and logs each reason once.
 */
export async function* watchCertificateFiles(
  files: CertificateFiles,
  { log, signal }: Context,
): AsyncGenerator<ServingCertificate> {
  let last: string | undefined;
  let complaint: string | undefined;
  while (!signal.aborted) {
    const read = await readPair(files);
    const problem = "problem" in read ? read.problem : undefined;
    if (problem !== undefined && problem !== complaint) log.warn({ reason: problem }, "cannot use the certificate");
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
    const [cert, key] = [readFileWithin(certPath, MiB), readFileWithin(keyPath, MiB)];
    const expiresAt = expiryOf({ cert, key });
    if (expiresAt !== undefined) return { cert, key, expiresAt };
    return { problem: `${certPath} is not a PEM certificate, or does not belong to the key in ${keyPath}` };
  } catch (error) {
    return { problem: (error as Error).message };
  }
}
