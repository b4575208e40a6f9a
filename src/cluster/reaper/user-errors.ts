import type { Log } from "../../shared/output/log.ts";
import { userRules } from "./core/pod-rules.ts";
import { type ReapPolicy, selectionOf } from "./core/policy.ts";
import { eventOfUserError } from "./core/report.ts";
import type { Verdict } from "./core/verdict.ts";
import type { PodEvents, Regarding } from "./pod-events.ts";
import type { PodRecord } from "./pod-record.ts";

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
