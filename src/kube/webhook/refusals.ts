import { type Bucket, fullBucket, take } from "../../core/cluster/rate-limit.ts";
import type { Log } from "../../system/output/log.ts";

export interface RefusedRequest {
  readonly from: string | undefined;
  readonly status: number;
  readonly reason: string;
}

const RATE = { perSecond: 1, burst: 20 };

/**
 * Logs requests that were refused. Whoever can reach the webhook can have any number refused: some are logged, the others counted
 * (`notLogged`, of the next one that is logged). The metric counts all.
 */
export function createRefusalLogger(log: Log): (request: RefusedRequest, now?: number) => void {
  let bucket: Bucket | undefined;
  let notLogged = 0;
  return (request, now = performance.now()) => {
    const [next, waitMs] = take(bucket ?? fullBucket(RATE, now), RATE, now);
    if (waitMs > 0) {
      notLogged += 1;
      return;
    }
    log.warn(notLogged === 0 ? { ...request } : { ...request, notLogged }, "refused a request");
    [bucket, notLogged] = [next, 0];
  };
}
