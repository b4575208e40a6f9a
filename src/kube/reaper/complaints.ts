import type { Rule } from "../../core/reap/pod-rules.ts";
import { isFromNamespace } from "../../core/reap/policy.ts";
import { eventOfComplaint } from "../../core/reap/report.ts";
import type { Verdict } from "../../core/reap/verdict.ts";
import type { Log } from "../../system/output/log.ts";
import type { KubeObject } from "../api/client.ts";
import type { PodEvents, Regarding } from "./pod-events.ts";
import { podRefOf } from "./pods.ts";

/** Where a pod is left because of what somebody has written, or has not, or has not allowed: only they can mend it. */
const causes: ReadonlySet<Rule> = new Set(["unreadable-choice", "contradiction", "no-method", "no-right"]);

interface Complaint {
  readonly about: Regarding;
  readonly reason: string;
  readonly rule: Rule;
  isTold: boolean;
}

/** Tells, once each, in the log and as an Event, what about a pod or a namespace keeps the reaper from its work. */
export interface Complaints {
  judged(pod: KubeObject, verdict: Verdict): void;
  /** From now on they are told, until the signal is aborted. */
  lead(term: AbortSignal): void;
  forgot(uid: string): void;
}

export interface ComplaintsContext {
  readonly events: PodEvents;
  /** Nothing is written into the cluster. */
  readonly isDryRun: boolean;
  readonly log: Log;
}

/**
 * Creates what tells of pods and namespaces whose labels or annotations keep the reaper from them: once each, in the log and as an
 * Event.
 */
export function createComplaints({ events, isDryRun, log }: ComplaintsContext): Complaints {
  /** By the object's UID, or a namespace's name: the latest of each. */
  const known = new Map<string, Complaint>();
  let term: AbortSignal | undefined;
  const tell = (complaint: Complaint): void => {
    if (complaint.isTold || term === undefined || term.aborted) return;
    complaint.isTold = true;
    const { about, reason, rule } = complaint;
    const { kind, namespace, name } = about;
    log.warn(
      { namespace, ...(kind === "Namespace" ? {} : { pod: name }), reason: rule, why: reason },
      "cannot reap: the pod or namespace needs a change",
    );
    if (!isDryRun) void events.write(about, eventOfComplaint(reason), term);
  };
  return {
    judged(pod, { rule, reason }) {
      const named = podRefOf(pod);
      if (!causes.has(rule)) return void known.delete(named.uid);
      const { namespace } = named;
      const ofNamespace = rule === "unreadable-choice" && isFromNamespace(reason);
      const about: Regarding = ofNamespace ? { kind: "Namespace", namespace, name: namespace } : named;
      const key = ofNamespace ? namespace : named.uid;
      if (known.get(key)?.reason === reason) return;
      const complaint = { about, reason, rule, isTold: false };
      known.set(key, complaint);
      tell(complaint);
    },
    lead(next) {
      term = next;
      for (const complaint of known.values()) tell(complaint);
    },
    forgot: (uid) => void known.delete(uid),
  };
}
