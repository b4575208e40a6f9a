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

/** Which permissions to check, and with which client. */
export interface RightsContext {
  readonly api: ApiClient;
  readonly needed: readonly Right[];
  readonly log: Log;
}

/** What the account may do, as the API server last said. */
export interface RightsChecker {
  readonly needed: readonly Right[];
  /**
   * Returns the permissions that are missing. Each counts as granted until the API server says otherwise; if it does
   * not answer, its last answer stays.
   */
  missing(): readonly Right[];
  /** Returns a sentence that names the missing permissions; undefined if there are none. */
  problem(): string | undefined;
  /**
   * Asks the API server now, or joins the check under way. Resolves with whether the answer has changed; with false if
   * there is none, which the log says once.
   */
  check(signal: AbortSignal): Promise<boolean>;
  /**
   * Checks every 30 s, every 5 s while a permission is missing, until the signal is aborted. Calls `changed` after each
   * change.
   */
  run(changed: () => void, signal: AbortSignal): Promise<void>;
}

interface Review {
  readonly status?: { readonly allowed?: boolean };
}

/**
 * Creates a checker that asks the API server which permissions the account lacks (SelfSubjectAccessReview): when
 * `check` is called, and regularly once `run` is. Logs each change of the answer.
 */
export function createRightsChecker({ api, needed, log }: RightsContext): RightsChecker {
  let missing: readonly Right[] = [];
  let isSilent = false;
  const notifier = createNotifier(); // a change, as after a 403, is soon followed by another one
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
