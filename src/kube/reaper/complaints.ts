import type { Rule } from "../../core/reap/pod-rules.ts";
import { isFromNamespace } from "../../core/reap/policy.ts";
import { eventOfComplaint } from "../../core/reap/report.ts";
import type { Verdict } from "../../core/reap/verdict.ts";
import type { Log } from "../../system/output/log.ts";
import type { KubeObject } from "../api/client.ts";
import type { PodEvents, Regarding } from "./pod-events.ts";
import { podRefOf } from "./pods.ts";

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
