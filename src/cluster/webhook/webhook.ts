import { join } from "node:path";
import { version } from "../../../package.json";
import type { Values } from "../../shared/cli/core/option.ts";
import type { Environment } from "../../shared/core/environment.ts";
import { EXIT } from "../../shared/core/exit.ts";
import type { Log } from "../../shared/output/log.ts";
import type { Signals } from "../../shared/process/signals.ts";
import { type ApiClient, findApiServer } from "../api/client.ts";
import { type CertificateSettings, watchCertificates } from "../certificates/certificates.ts";
import type { ServingCertificate } from "../certificates/held.ts";
import { openHealth } from "../controller/health.ts";
import { pause } from "../controller/pause.ts";
import { stopsOf, whenAborted } from "../controller/stops.ts";
import { createImageCache } from "../image/image-cache.ts";
import type { InjectPolicy } from "../inject/core/policy.ts";
import type { WebhookLimits } from "./core/webhook-limits.ts";
import type { webhookOptions } from "./core/webhook-options.ts";
import { createEndpoint, type Endpoint } from "./endpoint.ts";
import { type HttpsServer, openHttps } from "./https.ts";
import { createMetrics } from "./metrics.ts";
import { noCredentials } from "./pod-images.ts";
import { createPullSecretReader } from "./pull-secrets.ts";

/** The resolved options of `ebb webhook`, and its limits. */
type WebhookSettings = Values<typeof webhookOptions> & WebhookLimits;

/** What `ebb webhook` needs beside its settings. */
interface WebhookContext {
  readonly policy: InjectPolicy;
  readonly env: Environment;
  readonly log: Log;
  readonly signals: Signals;
}

/**
 * Runs `ebb webhook`: serves until a stop signal, then shuts down. Resolves with the exit code. Rejects with Failure if
 * an address cannot be bound, if a file of --ca-file or --registry-config cannot be used, or if no API
 * server is configured for ebb's own certificates or --pull-secrets.
 */
export async function main(settings: WebhookSettings, { policy, env, log, signals }: WebhookContext): Promise<number> {
  const stops = stopsOf(signals);
  const { requestMs } = settings;
  let server: HttpsServer | undefined;
  let served: ServingCertificate | undefined;
  let problem: string | undefined;
  const gauges = { inFlight: () => endpoint.inFlight, connections: () => server?.connections ?? 0 };
  const metrics = createMetrics(version, gauges);
  const api = needsApi(settings) ? await findApiServer({ env, ...settings }, log) : undefined;
  const credentials = settings.pullSecrets && api !== undefined ? createPullSecretReader(api, log) : noCredentials;
  const images = createImageCache(settings, { env, log, isAtDesk: false });
  const endpoint = createEndpoint({ ...settings, policy, images, credentials }, log, metrics);
  const { onRequest, onBroken } = endpoint;
  const handlers = { onRequest, onBroken, onCut: metrics.cut };
  const unready = (): string | undefined => {
    if (stops.first.aborted) return "leaving";
    if (served === undefined) return `no certificate yet${problem === undefined ? "" : `: ${problem}`}`;
    return served.expiresAt < Date.now() ? "the certificate has expired" : undefined;
  };
  const health = openHealth(settings.healthListen, metrics, { unready });
  log.info({ port: health.port }, "serving probes and metrics");
  const serve = async (certificate: ServingCertificate): Promise<void> => {
    const expires = new Date(certificate.expiresAt).toISOString();
    if (server === undefined) {
      server = await openHttps({ listen: settings.listen, certificate, requestMs }, handlers);
      log.info({ port: server.port, expires }, "serving admission requests");
    } else {
      server.use(certificate);
      log.info({ expires }, "serving with a new certificate");
    }
    served = certificate;
    metrics.expires(certificate.expiresAt);
  };
  const serveAll = async (): Promise<void> => {
    const source = certificateSettings(settings, api);
    for await (const news of watchCertificates(source, { log, signal: stops.first })) {
      if ("problem" in news) problem = news.problem;
      else await serve(news);
    }
  };
  const serving = serveAll();
  await Promise.race([serving, whenAborted(stops.first)]);
  if (server !== undefined) await shutDown(server, { endpoint, settings, stop: stops.second, log });
  await serving;
  await health.close();
  return EXIT.ok;
}

/** Reports whether the webhook asks the API server for anything. */
function needsApi({ certDir, pullSecrets }: WebhookSettings): boolean {
  return certDir === undefined || pullSecrets;
}

/** Returns the source of the webhook's certificates: the files in --cert-dir, else ebb's own CA. */
function certificateSettings(settings: WebhookSettings, api: ApiClient | undefined): CertificateSettings {
  const { certDir } = settings;
  if (certDir !== undefined) return { kind: "files", cert: join(certDir, "tls.crt"), key: join(certDir, "tls.key") };
  if (api === undefined) throw new Error("no API server for the webhook's own certificates");
  const { name, certificateNames: names, namespace = api.namespace } = settings;
  return { kind: "own", api, namespace, name, names };
}

/** What is shut down, and how fast. */
interface Shutdown {
  readonly endpoint: Endpoint;
  readonly settings: Pick<WebhookSettings, "drain" | "minDrain">;
  /** Ends the shutdown at once when it is aborted. */
  readonly stop: AbortSignal;
  readonly log: Log;
}

/**
 * Shuts the server down. For --min-drain it accepts connections as before, while the API server learns that this
 * replica is not ready; then it closes, and waits for requests under way. After --drain in all, or when `stop` is
 * aborted, it cuts what is left. Logs begin and end; never rejects.
 */
async function shutDown(server: HttpsServer, { endpoint, settings, stop, log }: Shutdown): Promise<void> {
  const start = performance.now();
  const minMs = Math.min(settings.minDrain, settings.drain);
  log.info(
    { minDrainMs: minMs, atMostMs: settings.drain, connections: server.connections },
    "shutting down the webhook",
  );
  endpoint.leave();
  await pause(minMs, stop);
  const leftMs = Math.max(0, settings.drain - (performance.now() - start));
  await Promise.race([server.close(), pause(leftMs, stop)]);
  const { inFlight } = endpoint;
  server.destroy();
  const fields = { drainedMs: Math.round(performance.now() - start), unanswered: inFlight };
  if (inFlight > 0) log.warn(fields, "the webhook has shut down");
  else log.info(fields, "the webhook has shut down");
}
