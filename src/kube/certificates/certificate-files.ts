import { MiB, readFileWithin } from "../../system/input.ts";
import type { Context } from "../api/context.ts";
import { pause } from "../controller/pause.ts";
import { expiryOf, type ServingCertificate } from "./held.ts";

/** Paths of PEM files, as cert-manager's Secret has them when it is mounted. */
export interface CertificateFiles {
  readonly cert: string;
  readonly key: string;
}

/** The kubelet swaps both at once by a symbolic link, up to a minute after the Secret changed. Reading two small files is nothing. */
const PERIOD_MS = 1000;

/**
 * Yields each new pair in the files. While they hold none, because they are being replaced or are wrong, it waits, and says so
 * once.
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
    return { problem: `${certPath}: not a certificate in PEM for the key in ${keyPath}` };
  } catch (error) {
    return { problem: (error as Error).message };
  }
}
