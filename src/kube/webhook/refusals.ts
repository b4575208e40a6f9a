import { type Bucket, fullBucket, take } from "../../core/cluster/rate-limit.ts";
import type { Log } from "../../system/output/log.ts";

/** A request that was refused; `from` is the client's address. */
export interface RefusedRequest {
  readonly from: string | undefined;
  readonly status: number;
  readonly reason: string;
}

const RATE = { perSecond: 1, burst: 20 };

/**
 * Creates a function that logs a refused request. Who can reach the webhook can have any number refused, so it logs 20
 * at once and then one each second, and counts the others: the next line has them as `notLogged`. The metric counts
 * all. `now` is by performance.now().
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
