import type { ApiClient } from "../api/client.ts";
import { type Answered, createRateLimit, throttleClient } from "../controller/throttle.ts";
import type { ReaperSettings } from "./core/reaper-options.ts";
import { createSender } from "./methods/send.ts";
import { createPodEvents } from "./pod-events.ts";
import { createReconciler, type ReconcilerContext } from "./reconciler.ts";
import { createUserErrors } from "./user-errors.ts";

/** What a reconciler is built from. */
export interface BuildContext extends Pick<ReconcilerContext, "records" | "metrics" | "policy" | "isOnce" | "log"> {
  readonly settings: Pick<ReaperSettings, "concurrency" | "qps" | "burst" | "dryRun" | "image" | "imagePullPolicy">;
  /** The reaper's name in Events. */
  readonly identity: string;
  readonly answered?: Answered;
}

/**
 * Creates a reconciler that asks by a client, which has no rate limit yet, and writes Events. Returns the client with the
 * rate limit, too.
 */
export function buildReconciler(api: ApiClient, { settings, identity, answered, ...shared }: BuildContext) {
  const { concurrency, qps, burst, dryRun: isDryRun } = settings;
  const turn = createRateLimit({ perSecond: qps, burst });
  const limited = throttleClient(api, turn, answered);
  const unlimited = throttleClient(api, async () => undefined, answered);
  const { isOnce, log } = shared;
  const events = createPodEvents(limited, identity, log);
  const reconciler = createReconciler({
    ...{ ...shared, api: unlimited, turn, events, concurrency, isDryRun },
    send: createSender({ ...settings, api: unlimited, log }),
    userErrors: isOnce ? { update: () => undefined } : createUserErrors(events, isDryRun, log), // its table has them
  });
  return { reconciler, limited };
}
