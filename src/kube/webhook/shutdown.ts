import type { webhookOptions } from "../../core/cli/cluster/webhook-options.ts";
import type { Values } from "../../core/cli/option.ts";
import { type Log, logAt } from "../../system/output/log.ts";
import { pause } from "../controller/pause.ts";
import type { Endpoint } from "./endpoint.ts";
import type { HttpsServer } from "./https.ts";

export interface Shutdown {
  readonly endpoint: Endpoint;
  readonly settings: Pick<Values<typeof webhookOptions>, "drain" | "minDrain">;
  /** Ends all of it at once. */
  readonly stop: AbortSignal;
  readonly log: Log;
}

/**
 * Shuts the server down: fails readiness and still accepts while the API server learns of that; then closes, and answers what is
 * under way; cuts what is left after --drain.
 */
export async function shutDown(server: HttpsServer, { endpoint, settings, stop, log }: Shutdown): Promise<void> {
  const start = performance.now();
  const minMs = Math.min(settings.minDrain, settings.drain);
  log.info({ minDrainMs: minMs, atMostMs: settings.drain, connections: server.connections }, "shutting down");
  endpoint.leave();
  await pause(minMs, stop);
  const leftMs = Math.max(0, settings.drain - (performance.now() - start));
  await Promise.race([server.close(), pause(leftMs, stop)]);
  const { inFlight } = endpoint;
  server.destroy();
  const fields = { drainedMs: Math.round(performance.now() - start), unanswered: inFlight };
  logAt(log, inFlight > 0 ? "warn" : "info", fields, "shut down");
}
