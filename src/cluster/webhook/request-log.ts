import type { Log } from "../../shared/output/log.ts";
import { type Bucket, fullBucket, take } from "../core/rate-limit.ts";
import { ownerOf, podNameOf } from "./admission.ts";
import type { Decision } from "./reviewer.ts";

/** A request that was refused; `from` is the client's address. */
interface RefusedRequest {
  readonly from: string | undefined;
  readonly status: number;
  readonly reason: string;
}

const RATE = { perSecond: 1, burst: 20 };

/**
 * Creates a function that logs a refused request. Who can reach the webhook can have any number refused, so it logs 20
 * at once and then one each second, and counts the others: the next line has them as `notLogged`. The metric counts
 * all.
 */
export function createRefusalLogger(log: Log): (request: RefusedRequest) => void {
  let bucket: Bucket | undefined;
  let notLogged = 0;
  return (request) => {
    const now = performance.now();
    const [next, waitMs] = take(bucket ?? fullBucket(RATE, now), RATE, now);
    if (waitMs > 0) {
      notLogged += 1;
      return;
    }
    log.warn(notLogged === 0 ? { ...request } : { ...request, notLogged }, "refused a request");
    [bucket, notLogged] = [next, 0];
  };
}

const messages = {
  injected: "injected ebb into a pod",
  removed: "removed ebb from a pod",
  unchanged: "left a pod unchanged",
  refused: "refused a pod",
  skipped: "created a pod without ebb",
} as const;

/** Logs a decision about a pod. `ms` is how long it took. */
export function logDecision(log: Log, { request, response, waitedFor }: Decision, ms: number): void {
  const { result, reason, containers, drained, warnings } = response;
  const fields = {
    requestUid: request.uid,
    namespace: request.namespace,
    pod: podNameOf(request),
    owner: ownerOf(request),
    containers,
    drained,
    lookedUp: waitedFor.size || undefined,
    reason,
    warnings,
    dryRun: request.dryRun === true || undefined,
    durationMs: Math.round(ms * 100) / 100,
  };
  if (warnings !== undefined || result === "refused" || result === "skipped") return log.warn(fields, messages[result]);
  if (result === "unchanged") return log.debug(fields, messages.unchanged);
  log.info(fields, messages[result]);
}
