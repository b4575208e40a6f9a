import { createHash, randomBytes } from "node:crypto";
import type { Log } from "../../shared/output/log.ts";
import { isApiFailure, isConflict } from "../api/api-error.ts";
import type { ApiClient } from "../api/client.ts";
import { userRules } from "./core/pod-rules.ts";
import type { PodRef } from "./core/pod-view.ts";
import { type ReapPolicy, selectionOf } from "./core/policy.ts";
import { eventOfUserError, type PodEvent } from "./core/report.ts";
import type { Verdict } from "./core/verdict.ts";
import type { PodRecord } from "./pod-record.ts";

const CONTROLLER = "ebb.dev/reaper";
const LONGEST_REQUEST_MS = 4000;
/** kubernetes pkg/apis/core/validation/events.go, ReportingInstanceLengthLimit. */
const LONGEST_INSTANCE = 128;

/** The subject of an Event: a pod, or a namespace, whose `namespace` is its own name. */
export type Regarding =
  | (PodRef & { readonly kind?: never })
  | { readonly kind: "Namespace"; readonly namespace: string; readonly name: string; readonly uid?: never };

/** Events (events.k8s.io/v1) by which users see what the reaper does. */
export interface PodEvents {
  /** Writes an Event. If that fails, the log says so, and it resolves all the same. */
  write(about: Regarding, event: PodEvent): Promise<void>;
}

/**
 * Creates a writer of the reaper's Events. `identity` is the reaper's name in them. API failures are warnings in the
 * log; only a bug makes it reject.
 */
export function createPodEvents(api: ApiClient, identity: string, log: Log): PodEvents {
  return {
    async write(about, event) {
      try {
        await api.create(collectionOf(about), bodyOf(about, event, identity), { timeoutMs: LONGEST_REQUEST_MS });
      } catch (error) {
        if (isConflict(error)) return; // it is there already
        if (!isApiFailure(error)) throw error;
        const { namespace, name } = about;
        log.warn({ namespace, pod: name, reason: error.message }, "cannot write an Event");
      }
    },
  };
}

/** Tells, once each, in the log and as an Event, what about a pod or a namespace keeps the reaper from its work. */
export interface UserErrors {
  /** Takes a pod's newest verdict, by this policy. */
  update(record: Pick<PodRecord, "pod" | "reported">, verdict: Verdict, policy: ReapPolicy): void;
}

/** Creates the reporter of what users must mend. With `isDryRun` it writes no Events. */
export function createUserErrors(events: PodEvents, isDryRun: boolean, log: Log): UserErrors {
  const ofNamespaces = new Map<string, string>();
  return {
    update(record, { rule, reason }, policy) {
      const { namespace, name } = record.pod;
      const isNamespaces = rule === "unreadable-choice" && selectionOf(record.pod, policy).by === "namespace";
      const last = isNamespaces ? ofNamespaces.get(namespace) : record.reported;
      if (isNamespaces) ofNamespaces.set(namespace, reason);
      else record.reported = userRules.has(rule) ? reason : undefined;
      if (!userRules.has(rule) || last === reason) return;
      const about: Regarding = isNamespaces ? { kind: "Namespace", namespace, name: namespace } : record.pod;
      log.warn(
        { namespace, ...(isNamespaces ? {} : { pod: name }), reason: rule, why: reason },
        "cannot reap: the pod or namespace needs a change",
      );
      if (!isDryRun) void events.write(about, eventOfUserError(reason));
    },
  };
}

function collectionOf({ namespace }: Regarding): string {
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
 * Returns the end of an Event's name. `NotReaped` Events are named after their text, so that a reaper that is started
 * again writes no second one about the same thing; each other Event has a random name.
 */
function suffixOf({ uid = "" }: Regarding, { reason, note }: PodEvent): string {
  if (reason !== "NotReaped") return randomBytes(8).toString("hex");
  return createHash("sha256").update(`${uid} ${note}`).digest("hex").slice(0, 16);
}
