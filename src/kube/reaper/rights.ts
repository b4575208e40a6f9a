import { describeMissing, describeRight, howToMend, type Right } from "../../core/reap/rights.ts";
import type { Log } from "../../system/output/log.ts";
import { isApiFailure } from "../api/api-error.ts";
import type { ApiClient } from "../api/client.ts";
import { createNotifier } from "../controller/pause.ts";

const REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
const LONGEST_REQUEST_MS = 4000;
/** While none is missing. */
const EVERY_MS = 30_000;
/** While a permission is missing: somebody is probably about to grant it. */
const SOON_MS = 5000;

/** Which permissions to review, and with which client. */
export interface RightsContext {
  readonly api: ApiClient;
  readonly needed: readonly Right[];
  /** Called when a review differs from the last one. */
  readonly changed?: () => void;
  readonly log: Log;
}

/** What the account may do, as the API server last said. */
export interface Rights {
  /**
   * Returns the permissions that are missing. Each counts as granted until the API server says otherwise; if it does
   * not answer, its last answer stays.
   */
  missing(): readonly Right[];
  /** Returns a sentence that names the missing permissions; undefined if there are none. */
  problem(): string | undefined;
  /** Asks the API server now, or joins the review under way. If there is no answer, the log says so once. */
  review(signal: AbortSignal): Promise<void>;
  /** Reviews every 30 s, every 5 s while a permission is missing, until the signal is aborted. */
  run(signal: AbortSignal): Promise<void>;
}

interface Review {
  readonly status?: { readonly allowed?: boolean };
}

/** Creates the review of the account's permissions (SelfSubjectAccessReview). Logs each change of the answer. */
export function createRights({ api, needed, changed = () => undefined, log }: RightsContext): Rights {
  let missing: readonly Right[] = [];
  let isSilent = false;
  let underWay: Promise<void> | undefined;
  const notifier = createNotifier(); // a change, as after a 403, is soon followed by another one
  const isMissing = async (right: Right, signal: AbortSignal): Promise<boolean> => {
    const asking = { signal, timeoutMs: LONGEST_REQUEST_MS, retries: 0 };
    const { status } = await api.create<Review>(REVIEWS, reviewOf(right), asking);
    return status?.allowed === undefined ? missing.includes(right) : !status.allowed;
  };
  const ask = async (signal: AbortSignal): Promise<void> => {
    try {
      const answers = await Promise.all(needed.map((right) => isMissing(right, signal)));
      const before = missing;
      missing = needed.filter((_, at) => answers[at]);
      isSilent = false;
      if (missing.map(describeRight).join() === before.map(describeRight).join()) return;
      tell(missing, log);
      notifier.notify();
      changed();
    } catch (error) {
      if (signal.aborted) return;
      if (!isApiFailure(error)) throw error;
      if (!isSilent) log.warn({ reason: error.message }, "cannot check the account's permissions");
      isSilent = true;
    }
  };
  const review = (signal: AbortSignal): Promise<void> => {
    underWay ??= ask(signal).finally(() => {
      underWay = undefined;
    });
    return underWay;
  };
  return {
    missing: () => missing,
    problem: () => (missing.length === 0 ? undefined : describeMissing(missing)),
    review,
    async run(signal) {
      while (!signal.aborted) {
        await notifier.wait(missing.length === 0 ? EVERY_MS : SOON_MS, signal);
        if (!signal.aborted) await review(signal);
      }
    },
  };
}

function tell(missing: readonly Right[], log: Log): void {
  if (missing.length === 0) return log.info({}, "all permissions are granted: continuing");
  log.error({ rights: missing.map(describeRight), how: howToMend(missing) }, "the reaper's account lacks permissions");
}

function reviewOf({ verb, group, resource: path, namespace, name }: Right): object {
  const [resource, subresource] = path.split("/");
  return {
    apiVersion: "authorization.k8s.io/v1",
    kind: "SelfSubjectAccessReview",
    spec: { resourceAttributes: { verb, group, resource, subresource, namespace, name } },
  };
}
