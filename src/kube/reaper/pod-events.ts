import { createHash, randomBytes } from "node:crypto";
import type { Rule } from "../../core/reap/pod-rules.ts";
import { timeOf } from "../../core/reap/pod-view.ts";
import { isFromNamespace } from "../../core/reap/policy.ts";
import { eventOfComplaint, type PodEvent } from "../../core/reap/report.ts";
import type { Verdict } from "../../core/reap/verdict.ts";
import type { Log } from "../../system/output/log.ts";
import { isApiFailure, isConflict, isTransient } from "../api/api-error.ts";
import type { ApiClient, KubeObject } from "../api/client.ts";
import { pagesAt } from "../api/list.ts";
import { type PodRef, podRefOf } from "./act/acting.ts";

const CONTROLLER = "ebb.dev/reaper";
const LONGEST_REQUEST_MS = 4000;
/** kubernetes pkg/apis/core/validation/events.go, ReportingInstanceLengthLimit. */
const LONGEST_INSTANCE = 128;

interface Event extends KubeObject {
  readonly eventTime?: string | null;
  readonly regarding?: { readonly uid?: string };
}

/** Milliseconds since the epoch by pod UID. */
type Times = ReadonlyMap<string | undefined, number>;

/**
 * How long a list of Events is used again: for each the API server reads all Events of a namespace, whatever is
 * selected.
 */
const SAME_LIST_MS = 5000;
/** After so many lists in a row without an answer, the last leader's acts count as unknown: the Events may fail alone. */
const MOST_FAILURES = 3;

/** The subject of an Event: a pod, or a namespace, whose `namespace` is its own name. */
export type Regarding =
  | (PodRef & { readonly kind?: never })
  | { readonly kind: "Namespace"; readonly namespace: string; readonly name: string; readonly uid?: never };

/** Events (events.k8s.io/v1) by which users see what the reaper does, and a new leader what the last one did. */
export interface PodEvents {
  /** Writes an Event. If that fails, the log says so, and it resolves all the same. */
  write(about: Regarding, event: PodEvent, signal?: AbortSignal): Promise<void>;
  /**
   * Resolves with when any replica last asked a sidecar of this pod to quit, in milliseconds since the epoch; with
   * undefined if none did, if the signal is aborted, or if Events may not be read; with `unanswered` if the API server
   * does not answer now, but with undefined from the third time on. The log says that they cannot be read. The answer
   * may be up to 5 s old.
   */
  lastTold(pod: PodRef, signal: AbortSignal): Promise<number | undefined | "unanswered">;
}

/**
 * Creates a writer and reader of the reaper's Events. `identity` is this replica's name in them. API failures are
 * warnings in the log; only a bug makes it reject.
 */
export function createPodEvents(api: ApiClient, identity: string, log: Log): PodEvents {
  const lists = new Map<string, { readonly askedAt: number; readonly times: Promise<Times>; failures: number }>();
  return {
    async write(about, event, signal) {
      try {
        const asking = { signal, timeoutMs: LONGEST_REQUEST_MS };
        await api.create(collectionOf(about), bodyOf(about, event, identity), asking);
      } catch (error) {
        if (signal?.aborted || isConflict(error)) return; // another replica has written it
        if (!isApiFailure(error)) throw error;
        const { namespace, name } = about;
        log.warn({ namespace, pod: name, reason: error.message }, "cannot write an Event");
      }
    },
    async lastTold(pod, signal) {
      const { namespace, name, uid } = pod;
      const known = lists.get(namespace);
      const isRecent = known !== undefined && performance.now() - known.askedAt < SAME_LIST_MS;
      const asked = isRecent
        ? known
        : { askedAt: performance.now(), times: timesIn(api, namespace, signal), failures: (known?.failures ?? 0) + 1 };
      lists.set(namespace, asked);
      try {
        const times = await asked.times;
        asked.failures = 0;
        return times.get(uid);
      } catch (error) {
        if (!isApiFailure(error) && lists.get(namespace) === asked) lists.delete(namespace);
        if (signal.aborted) return undefined;
        if (!isApiFailure(error)) {
          if (isRecent) return await this.lastTold(pod, signal); // the first caller's signal was aborted
          throw error;
        }
        if (!isRecent) log.warn({ namespace, pod: name, reason: error.message }, "cannot read Events");
        // a sidecar that is told twice takes no harm
        return isTransient(error) && asked.failures < MOST_FAILURES ? "unanswered" : undefined;
      }
    },
  };
}

/** Reads when a sidecar of each pod in a namespace was last asked to quit. */
async function timesIn(api: ApiClient, namespace: string, signal: AbortSignal): Promise<Times> {
  const times = new Map<string | undefined, number>();
  const query = { fieldSelector: "reason=SidecarAsked" };
  for await (const { items } of pagesAt<Event>(api, collectionOf({ namespace }), query, { signal }))
    for (const { regarding, eventTime } of items) {
      const time = timeOf(eventTime);
      if (time !== undefined) times.set(regarding?.uid, Math.max(time, times.get(regarding?.uid) ?? 0));
    }
  return times;
}

/** The rules by which a pod is left until a user mends a label, an annotation or a permission. */
const causes: ReadonlySet<Rule> = new Set(["unreadable-choice", "contradiction", "no-method", "no-right"]);

/** Tells, once each, in the log and as an Event, what about a pod or a namespace keeps the reaper from its work. */
export interface Complaints {
  /** Takes a pod's newest verdict. */
  judged(pod: KubeObject, verdict: Verdict, signal: AbortSignal): void;
  /** Forgets a pod that is gone. */
  forgot(uid: string): void;
}

/** Creates the reporter of what users must mend. With `isDryRun` it writes no Events. */
export function createComplaints(events: PodEvents, isDryRun: boolean, log: Log): Complaints {
  /** What was told, by the pod's UID, or by the namespace's name. */
  const told = new Map<string, string>();
  return {
    judged(pod, { rule, reason }, signal) {
      const named = podRefOf(pod);
      if (!causes.has(rule)) return void told.delete(named.uid);
      const { namespace } = named;
      const ofNamespace = rule === "unreadable-choice" && isFromNamespace(reason);
      const about: Regarding = ofNamespace ? { kind: "Namespace", namespace, name: namespace } : named;
      const key = ofNamespace ? namespace : named.uid;
      if (told.get(key) === reason) return;
      told.set(key, reason);
      log.warn(
        { namespace, ...(ofNamespace ? {} : { pod: named.name }), reason: rule, why: reason },
        "cannot reap: the pod or namespace needs a change",
      );
      if (!isDryRun) void events.write(about, eventOfComplaint(reason), signal);
    },
    forgot: (uid) => void told.delete(uid),
  };
}

function collectionOf({ namespace }: Pick<PodRef, "namespace">): string {
  return `/apis/events.k8s.io/v1/namespaces/${namespace}/events`;
}

function bodyOf(about: Regarding, event: PodEvent, identity: string): object {
  const { kind = "Pod", namespace, name, uid } = about;
  const { type, reason, note } = event;
  return {
    apiVersion: "events.k8s.io/v1",
    kind: "Event",
    metadata: { name: `${name.slice(0, 220)}.${suffixOf(about, event)}`, namespace },
    eventTime: new Date().toISOString().replace("Z", "000Z"), // MicroTime: six digits
    reportingController: CONTROLLER,
    reportingInstance: identity.slice(0, LONGEST_INSTANCE),
    action: "EndSidecars",
    regarding: { apiVersion: "v1", kind, namespace, name, uid },
    type,
    reason,
    note,
  };
}

/**
 * Returns the end of an Event's name. `NotReaped` Events are named after their text, so that all replicas write one
 * about the same thing; each other Event has a random name.
 */
function suffixOf({ uid = "" }: Regarding, { reason, note }: PodEvent): string {
  if (reason !== "NotReaped") return randomBytes(8).toString("hex");
  return createHash("sha256").update(`${uid} ${note}`).digest("hex").slice(0, 16);
}
