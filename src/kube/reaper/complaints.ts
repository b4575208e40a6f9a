import type { Rule } from "../../core/reap/pod-rules.ts";
import { isFromNamespace } from "../../core/reap/policy.ts";
import { eventOfComplaint } from "../../core/reap/report.ts";
import type { Verdict } from "../../core/reap/verdict.ts";
import type { Log } from "../../system/output/log.ts";
import type { KubeObject } from "../api/client.ts";
import type { PodEvents, Regarding } from "./pod-events.ts";
import { podRefOf } from "./pods.ts";

/**
 * The rules by which a pod is left because of what somebody wrote, did not write or did not permit: only they can mend
 * it.
 */
const causes: ReadonlySet<Rule> = new Set(["unreadable-choice", "contradiction", "no-method", "no-right"]);

interface Complaint {
  readonly about: Regarding;
  readonly reason: string;
  readonly rule: Rule;
  isTold: boolean;
}

/** Tells, once each, in the log and as an Event, what about a pod or a namespace keeps the reaper from its work. */
export interface Complaints {
  /** Takes a pod's newest verdict. A new complaint is told at once if this replica leads, else as soon as it does. */
  judged(pod: KubeObject, verdict: Verdict): void;
  /** Tells all that is known now, and what is new from now on, until the signal is aborted. */
  lead(term: AbortSignal): void;
  /** Forgets a pod that is gone. */
  forgot(uid: string): void;
}

/** Where complaints are told. */
export interface ComplaintsContext {
  readonly events: PodEvents;
  /** True: no Events are written. */
  readonly isDryRun: boolean;
  readonly log: Log;
}

/**
 * Creates the reporter of mistakes in labels and annotations, and of missing permissions, that keep the reaper from a
 * pod.
 */
export function createComplaints({ events, isDryRun, log }: ComplaintsContext): Complaints {
  /** The latest complaint by the pod's UID, or by the namespace's name. */
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
