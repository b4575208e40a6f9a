import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { join } from "node:path";
import type { Environment } from "../../core/base/environment.ts";
import type { webhookOptions } from "../../core/cli/cluster/webhook-options.ts";
import type { Values } from "../../core/cli/option.ts";
import type { Log } from "../../system/output/log.ts";
import { connect } from "../api/client.ts";
import type { CertificateSettings } from "../certificates/certificates.ts";

/** The names in cert-manager's Secrets, and in all of type kubernetes.io/tls. */
const FILES = { cert: "tls.crt", key: "tls.key" };

/**
 * Returns the source of the webhook's certificates: the files in --cert-dir, else ebb's own CA, for which it finds the
 * API server. Reads no certificate. Rejects with Failure if it needs an API server and none is configured.
 */
export async function certificateSettings(
  settings: Values<typeof webhookOptions>,
  env: Environment,
  log: Log,
): Promise<CertificateSettings> {
  const { certDir, kubeconfig, context } = settings;
  if (certDir !== undefined) return { kind: "files", cert: join(certDir, FILES.cert), key: join(certDir, FILES.key) };
  const api = await connect({ env, kubeconfig, context }, log);
  return {
    kind: "own",
    api,
    namespace: settings.namespace ?? api.namespace,
    secret: settings.secret,
    lease: settings.lease,
    service: settings.service,
    names: settings.certificateNames,
    webhooks: settings.webhookConfig,
    validityMs: settings.certificateValidity,
    authorityValidityMs: settings.caValidity,
    identity: `${hostname()}_${randomUUID()}`,
  };
}
