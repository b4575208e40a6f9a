import { createHash, randomBytes } from "node:crypto";
import { timeOf } from "../../core/reap/pod-view.ts";
import type { PodEvent } from "../../core/reap/report.ts";
import type { Log } from "../../system/output/log.ts";
import { isApiFailure, isConflict } from "../api/api-error.ts";
import type { ApiClient, KubeObject } from "../api/client.ts";
import { listAt } from "../api/list.ts";
import { withQuery } from "../api/query.ts";
import type { PodRef } from "./act/acting.ts";

const CONTROLLER = "ebb.dev/reaper";
const LONGEST_REQUEST_MS = 4000;
/** kubernetes pkg/apis/core/validation/events.go, ReportingInstanceLengthLimit. */
const LONGEST_INSTANCE = 128;

interface Event extends KubeObject {
  readonly eventTime?: string | null;
  readonly regarding?: { readonly uid?: string };
}

/** By UID. */
type Times = ReadonlyMap<string | undefined, number>;

/** One list is for all that ask meanwhile: the API server reads all Events of a namespace for it, whatever is selected. */
const SAME_LIST_MS = 5000;
const PAGE = 500;

/** A pod, or a namespace: `namespace` is its own name then. */
export type Regarding =
  | (PodRef & { readonly kind?: never })
  | { readonly kind: "Namespace"; readonly namespace: string; readonly name: string; readonly uid?: never };

/** Writes and reads what the pod's users see of its reaping: Events (events.k8s.io/v1). */
export interface PodEvents {
  /** Best effort: that it could not be written is logged. */
  write(about: Regarding, event: PodEvent, signal?: AbortSignal): Promise<void>;
  /** When a sidecar of this pod was last told to end, by whichever replica; in milliseconds since the epoch. */
  lastTold(pod: PodRef, signal: AbortSignal): Promise<number | undefined>;
}

/** Creates a writer and reader of the reaper's Events on pods. What fails is a warning in the log, never an error. */
export function createPodEvents(api: ApiClient, identity: string, log: Log): PodEvents {
  const lists = new Map<string, { readonly askedAt: number; readonly times: Promise<Times> }>();
  return {
    async write(about, event, signal) {
      try {
        const asking = { signal, timeoutMs: LONGEST_REQUEST_MS };
        await api.create(collectionOf(about), bodyOf(about, event, identity), asking);
      } catch (error) {
        if (signal?.aborted || isConflict(error)) return; // another replica has told it
        if (!isApiFailure(error)) throw error;
        const { namespace, name } = about;
        log.warn({ namespace, pod: name, reason: error.message }, "cannot write an Event");
      }
    },
    async lastTold(pod, signal) {
      const { namespace, name, uid } = pod;
      const known = lists.get(namespace);
      const isRecent = known !== undefined && performance.now() - known.askedAt < SAME_LIST_MS;
      const asked = isRecent ? known : { askedAt: performance.now(), times: timesIn(api, namespace, signal) };
      lists.set(namespace, asked);
      try {
        return (await asked.times).get(uid);
      } catch (error) {
        if (lists.get(namespace) === asked) lists.delete(namespace);
        if (!isApiFailure(error)) throw error;
        log.warn({ namespace, pod: name, reason: error.message }, "cannot read Events");
        return undefined; // to be told twice does a sidecar no harm
      }
    },
  };
}

/** When sidecars were last told to end, of each pod of a namespace. */
async function timesIn(api: ApiClient, namespace: string, signal: AbortSignal): Promise<Times> {
  const times = new Map<string | undefined, number>();
  let rest: string | undefined;
  do {
    const query = { fieldSelector: "reason=SidecarAsked", limit: PAGE, continue: rest };
    const list = await listAt<Event>(api, withQuery(collectionOf({ namespace }), query), { signal });
    for (const { regarding, eventTime } of list.items) {
      const time = timeOf(eventTime);
      if (time !== undefined) times.set(regarding?.uid, Math.max(time, times.get(regarding?.uid) ?? 0));
    }
    rest = list.metadata.continue || undefined;
  } while (rest !== undefined);
  return times;
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

/** Replicas that say the same of a pod write one `NotReaped` Event, named after its text; each act is an Event of its own. */
function suffixOf({ uid = "" }: Regarding, { reason, note }: PodEvent): string {
  if (reason !== "NotReaped") return randomBytes(8).toString("hex");
  return createHash("sha256").update(`${uid} ${note}`).digest("hex").slice(0, 16);
}
