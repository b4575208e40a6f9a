import { describeMissing, describeRight, howToMend, type Right } from "../../core/reap/rights.ts";
import type { Log } from "../../system/output/log.ts";
import { isApiFailure } from "../api/api-error.ts";
import type { ApiClient } from "../api/client.ts";
import { createNotifier } from "../controller/pause.ts";

const REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
const LONGEST_REQUEST_MS = 4000;
const EVERY_MS = 30_000;
/** While a right is missing: somebody is probably about to grant it. */
const SOON_MS = 5000;

export interface RightsContext {
  readonly api: ApiClient;
  readonly needed: readonly Right[];
  readonly log: Log;
}

/** What this account may do, as the API server says: asked at the start, again and again, and after each 403. */
export interface RightsChecker {
  readonly needed: readonly Right[];
  /** What the API server does not say counts as it did before, and as granted at first. */
  missing(): readonly Right[];
  /** Undefined: nothing is missing. */
  problem(): string | undefined;
  /** Whether the answer is another one than before. */
  check(signal: AbortSignal): Promise<boolean>;
  /** Until the signal is aborted. */
  run(changed: () => void, signal: AbortSignal): Promise<void>;
}

interface Review {
  readonly status?: { readonly allowed?: boolean };
}

/** Creates what asks the API server which permissions the account lacks (SelfSubjectAccessReview), again and again. */
export function createRightsChecker({ api, needed, log }: RightsContext): RightsChecker {
  let missing: readonly Right[] = [];
  let isSilent = false;
  const notifier = createNotifier(); // after a 403 the answer is soon another one again
  let underWay: Promise<boolean> | undefined;
  const isMissing = async (right: Right, signal: AbortSignal): Promise<boolean> => {
    const asking = { signal, timeoutMs: LONGEST_REQUEST_MS, retries: 0 };
    const { status } = await api.create<Review>(REVIEWS, reviewOf(right), asking);
    return status?.allowed === undefined ? missing.includes(right) : !status.allowed;
  };
  const ask = async (signal: AbortSignal): Promise<boolean> => {
    try {
      const answers = await Promise.all(needed.map((right) => isMissing(right, signal)));
      const next = needed.filter((_, at) => answers[at]);
      const isOther = namesOf(next) !== namesOf(missing);
      missing = next;
      isSilent = false;
      if (isOther) {
        tell(next, log);
        notifier.notify();
      }
      return isOther;
    } catch (error) {
      if (!(signal.aborted || isApiFailure(error))) throw error;
      if (!(signal.aborted || isSilent))
        log.warn({ reason: (error as Error).message }, "cannot check the account's permissions");
      isSilent = true;
      return false;
    }
  };
  const check = (signal: AbortSignal): Promise<boolean> => {
    underWay ??= ask(signal).finally(() => {
      underWay = undefined;
    });
    return underWay;
  };
  return {
    needed,
    missing: () => missing,
    problem: () => (missing.length === 0 ? undefined : describeMissing(missing)),
    check,
    async run(changed, signal) {
      for (let before = namesOf(missing); !signal.aborted; before = namesOf(missing)) {
        await notifier.wait(missing.length === 0 ? EVERY_MS : SOON_MS, signal);
        await check(signal);
        if (before !== namesOf(missing)) changed();
      }
    },
  };
}

function tell(missing: readonly Right[], log: Log): void {
  if (missing.length === 0) return log.info({}, "all permissions are granted: continuing");
  log.error({ rights: missing.map(describeRight), how: howToMend(missing) }, "the reaper's account lacks permissions");
}

function namesOf(rights: readonly Right[]): string {
  return rights.map(describeRight).join();
}

function reviewOf({ verb, group, resource: path, namespace, name }: Right): object {
  const [resource, subresource] = path.split("/");
  return {
    apiVersion: "authorization.k8s.io/v1",
    kind: "SelfSubjectAccessReview",
    spec: { resourceAttributes: { verb, group, resource, subresource, namespace, name } },
  };
}
