import type { Log } from "../../shared/output/log.ts";
import { isApiFailure, lacksRight } from "../api/api-error.ts";
import type { ApiClient } from "../api/client.ts";
import { createNotifier, pause } from "../controller/pause.ts";
import { type Backoff, backoffMs } from "../core/backoff.ts";
import { describeMissing, describeRight, howToMend, type Right, refusedRight } from "./core/rights.ts";

const REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
const LONGEST_REQUEST_MS = 4000;
/** An API server that has just started refuses everything until it has read its RBAC: what is missing is asked twice. */
const SURE_MS = 3000;
/** The pauses between reviews while a permission is missing. They start short, because a user may grant it soon. */
const again: Backoff = { firstMs: 1000, longestMs: 30_000 };

/** Which permissions to review, and with which client. */
interface RightsContext {
  readonly api: ApiClient;
  readonly needed: readonly Right[];
  readonly isByHand?: boolean | undefined;
  /** Called when other permissions are missing than before; with `isGranted` if one is not that the log has named. */
  readonly changed?: (isGranted: boolean) => void;
  readonly log: Log;
}

/** The permissions that the account lacks. Each counts as granted until the API server says otherwise. */
interface Rights {
  missing(): readonly Right[];
  /** Returns a sentence that names the missing permissions; undefined if there are none. */
  problem(): string | undefined;
  /** Takes the error of a request. A 403 that names a needed permission marks it as missing. */
  refused(error: unknown): void;
  /**
   * Asks the API server for all of them, and again 3 s later if one is missing that the log has not named: only then the
   * log has an error. If there is no answer, the log says so once, and what was known stays.
   */
  review(signal: AbortSignal): Promise<void>;
  /** Reviews after each new refusal and, while a permission is missing, with backoff; until the signal is aborted. */
  run(signal: AbortSignal): Promise<void>;
}

/** Creates the list of missing permissions. Logs each change of it that a second review confirms. */
export function createRights({ api, needed, isByHand, changed = () => undefined, log }: RightsContext): Rights {
  let missing: readonly Right[] = [];
  let named: readonly Right[] = [];
  let isSilent = false;
  const notifier = createNotifier();
  const set = (now: readonly Right[]): void => {
    if (isEqual(now, missing)) return;
    missing = now;
    changed(false);
  };
  const review = async (signal: AbortSignal): Promise<void> => {
    try {
      set(await missingOf(api, needed, signal));
      if (missing.some((right) => !named.includes(right))) {
        await pause(SURE_MS, signal);
        set(await missingOf(api, needed, signal));
      }
      isSilent = false;
      if (!isEqual(missing, named)) tell(missing, log, isByHand);
      if (named.some((right) => !missing.includes(right))) changed(true);
      named = missing;
    } catch (error) {
      if (signal.aborted) return;
      if (!isApiFailure(error)) throw error;
      if (!isSilent) log.warn({ reason: error.message }, "cannot check the account's permissions");
      isSilent = true;
    }
  };
  return {
    missing: () => missing,
    problem: () => (missing.length === 0 ? undefined : describeMissing(missing)),
    refused(error) {
      const right = lacksRight(error) ? refusedRight(error.message, needed) : undefined;
      if (right === undefined || missing.includes(right)) return;
      set([...missing, right]);
      notifier.notify(); // others may be gone with it, or it is back already
    },
    review,
    async run(signal) {
      for (let times = 0; !signal.aborted; times++) {
        const isDone = missing.length === 0 && !isSilent;
        if (isDone) times = 0;
        await notifier.wait(isDone ? Number.POSITIVE_INFINITY : backoffMs(times, again, Math.random()), signal);
        if (!signal.aborted) await review(signal);
      }
    },
  };
}

function isEqual(one: readonly Right[], other: readonly Right[]): boolean {
  return one.length === other.length && one.every((right) => other.includes(right));
}

function tell(missing: readonly Right[], log: Log, isByHand: boolean | undefined): void {
  if (missing.length === 0) return log.info({}, "all permissions are granted: continuing");
  log.error(
    { rights: missing.map(describeRight), how: howToMend(missing, isByHand) },
    "the reaper's account lacks permissions",
  );
}

/** Asks which of these permissions the account lacks. Rejects with ApiError if there is no answer. */
export async function missingOf(
  api: ApiClient,
  needed: readonly Right[],
  signal: AbortSignal,
): Promise<readonly Right[]> {
  const answers = await Promise.all(needed.map((right) => isAllowed(api, right, signal)));
  return needed.filter((_, at) => !answers[at]);
}

/** Asks by a SelfSubjectAccessReview. Rejects with ApiError if there is no answer. */
async function isAllowed(api: ApiClient, right: Right, signal: AbortSignal): Promise<boolean> {
  const { verb, group, namespace, name } = right;
  const [resource, subresource] = right.resource.split("/");
  const review = {
    apiVersion: "authorization.k8s.io/v1",
    kind: "SelfSubjectAccessReview",
    spec: { resourceAttributes: { verb, group, resource, subresource, namespace, name } },
  };
  const asking = { signal, timeoutMs: LONGEST_REQUEST_MS };
  const { status } = await api.create<{ readonly status?: { readonly allowed?: boolean } }>(REVIEWS, review, asking);
  return status?.allowed !== false;
}
