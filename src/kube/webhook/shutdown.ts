import type { webhookOptions } from "../../core/cli/cluster/webhook-options.ts";
import type { Values } from "../../core/cli/option.ts";
import type { Log } from "../../system/output/log.ts";
import { pause } from "../controller/pause.ts";
import type { Endpoint } from "./endpoint.ts";
import type { HttpsServer } from "./https.ts";

/** What is shut down, and how fast. */
export interface Shutdown {
  readonly endpoint: Endpoint;
  readonly settings: Pick<Values<typeof webhookOptions>, "drain" | "minDrain">;
  /** Ends the shutdown at once when it is aborted. */
  readonly stop: AbortSignal;
  readonly log: Log;
}

/**
 * Shuts the server down. For --min-drain it accepts connections as before, while the API server learns that this
 * replica is not ready; then it closes, and waits for requests under way. After --drain in all, or when `stop` is
 * aborted, it cuts what is left. Logs begin and end; never rejects.
 */
export async function shutDown(server: HttpsServer, { endpoint, settings, stop, log }: Shutdown): Promise<void> {
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
  log[inFlight > 0 ? "warn" : "info"](fields, "the webhook has shut down");
}
