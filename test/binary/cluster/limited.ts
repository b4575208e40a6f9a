import type { ReaperLimits } from "../../../src/cluster/reaper/core/limits.ts";
import type { WebhookLimits } from "../../../src/cluster/webhook/core/webhook-limits.ts";
import type { StartOptions } from "../../harness/ebb.ts";

/** Returns how to start `ebb webhook` or `ebb reaper`, from source, with limits that no flag changes. */
export function limitedTo(limits: Partial<WebhookLimits & ReaperLimits>): StartOptions {
  return { through: [process.execPath, `${import.meta.dirname}/start-limited.ts`, JSON.stringify(limits)] };
}
