import { createHash, randomBytes } from "node:crypto";
import type { Log } from "../../shared/output/log.ts";
import { isApiFailure, isConflict } from "../api/api-error.ts";
import type { ApiClient } from "../api/client.ts";
import type { PodRef } from "./core/pod-view.ts";
import type { PodEvent } from "./core/report.ts";

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
