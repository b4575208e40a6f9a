import { EXIT, Failure } from "../core/exit.ts";
import { errorTexts } from "../core/system-error.ts";
import { readSmall } from "../io/file.ts";

let trusted: readonly string[] | undefined;

/**
 * Has ebb trust the certificates of --ca-file in all that the pod's commands ask over TLS from now on. The app inherits
 * nothing of it. @throws Failure(64) if the file cannot be read, or has no certificate
 */
export function trustFile(path: string | undefined): void {
  if (path !== undefined) trusted = trustedWith(path);
}

/** Returns the options of a TLS connection: the CAs, unless they are the usual ones. */
export function trustOptions(): { readonly ca?: string[] } {
  return trusted === undefined ? {} : { ca: [...trusted] };
}

/**
 * Returns the usual CAs (the public ones, those of NODE_EXTRA_CA_CERTS, the system's or those of SSL_CERT_FILE), and the
 * ones of a PEM file. @throws Failure(64) that names the file
 */
export function trustedWith(path: string): readonly string[] {
  const pem = readSmall(path, 1) ?? { reason: errorTexts.ENOENT };
  if (typeof pem !== "string") throw unusable(path, pem.reason);
  // loaded here, because few need them
  const { X509Certificate } = process.getBuiltinModule("node:crypto");
  const { getCACertificates } = process.getBuiltinModule("node:tls");
  try {
    new X509Certificate(pem);
  } catch {
    throw unusable(path, "its first certificate cannot be read, or it has none");
  }
  return [...getCACertificates("default"), ...getCACertificates("system"), pem];
}

function unusable(path: string, reason: string): Failure {
  return new Failure(EXIT.usage, `--ca-file: expected a file with certificates in PEM, got ${path}: ${reason}`);
}
