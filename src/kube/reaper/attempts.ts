import type { Act, Outcome, Result } from "../../core/reap/attempt-steps.ts";
import { describeMethod } from "../../core/reap/methods.ts";
import { partsOf } from "../../core/reap/pod-parts.ts";
import type { ReaperMemory, Rule } from "../../core/reap/pod-rules.ts";
import { viewOf } from "../../core/reap/pod-view.ts";
import type { ReapPolicy } from "../../core/reap/policy.ts";
import { eventOfAct, eventOfOutcome, reportOf } from "../../core/reap/report.ts";
import type { Verdict } from "../../core/reap/verdict.ts";
import type { Log } from "../../system/output/log.ts";
import type { ApiClient, KubeObject } from "../api/client.ts";
import type { Perform } from "./act/act.ts";
import { type FollowPod, readPod } from "./look.ts";
import type { PodEvents } from "./pod-events.ts";
import { type PodChange, podRefOf } from "./pods.ts";
import { reap } from "./reap.ts";
import type { ReaperMetrics } from "./reaper-metrics.ts";

/** The verdict about a stuck pod: its sidecars are to be ended. */
export type Stuck = Extract<Verdict, { kind: "end" }>;

/** What attempts to end sidecars need. */
export interface AttemptsContext {
  readonly api: ApiClient;
  readonly perform: Perform;
  readonly events: PodEvents;
  readonly metrics: ReaperMetrics;
  /** Called after a 403, to check the account's permissions. */
  readonly denied?: (signal: AbortSignal) => Promise<unknown>;
  readonly policy: () => ReapPolicy;
  readonly known: () => ReaperMemory;
  /** True: `changed` tells what a watch sees. False: each attempt reads its pod every 2 s. */
  readonly watches: boolean;
  readonly log: Log;
}

/** The attempts under way to end sidecars. */
export interface Attempts {
  /** How many pods have an attempt under way. */
  readonly underWay: number;
  isUnderWay(uid: string): boolean;
  /** Passes a change that the watch saw to the attempt at that pod, if there is one. */
  changed(change: PodChange): void;
  /** Makes one attempt at a stuck pod, and resolves with its outcome. Rejects only on a bug. */
  make(pod: KubeObject, stuck: Stuck, signal: AbortSignal): Promise<Outcome>;
}

/** How long to wait for the Event about the outcome, also if this replica no longer leads. */
const LONGEST_EVENT_MS = 5000;
const never = new AbortController().signal;

/**
 * Creates the runner of attempts to end the sidecars of stuck pods. Each act has an Event before it, and a log line and
 * a metric after it; each outcome has all three, but no Event if the sidecars neither ended nor were given up.
 */
export function createAttempts(context: AttemptsContext): Attempts {
  const { api, events, metrics, watches, log } = context;
  const listeners = new Map<string, (pod: KubeObject | undefined) => void>();
  const underWay = new Set<string>();
  const follow: FollowPod = (uid, seen) => {
    listeners.set(uid, seen);
    return () => void listeners.delete(uid);
  };
  return {
    get underWay() {
      return underWay.size;
    },
    isUnderWay: (uid) => underWay.has(uid),
    changed(change) {
      const listener = listeners.get(change.uid);
      if (listener === undefined) return;
      if (change.pod !== undefined) return listener(change.pod);
      // it runs no more, and the watch gives the last state in which it ran: reading it tells what it is now
      void readPod(change, api, never).then((found) => {
        if (found.kind === "pod") listeners.get(change.uid)?.(found.pod);
      });
    },
    async make(pod, stuck, signal) {
      const named = podRefOf(pod);
      const audit = auditOf(pod, stuck);
      underWay.add(named.uid);
      try {
        const outcome = await reap(named, {
          ...context,
          follow: watches ? follow : undefined,
          before: (act, reason) => events.write(named, eventOfAct(act, reason), signal),
          after(act, result, tookMs) {
            metrics.acted(act.method.kind, result.kind);
            const fields = { ...audit, ...auditOfAct(act, result), tookMs: Math.round(tookMs) };
            log[result.kind === "taken" ? "info" : "warn"](fields, "asked a sidecar to quit");
          },
          signal,
        });
        conclude(audit, outcome, log);
        metrics.attempted(outcome.kind, outcome.kind === "ended" ? secondsSinceEnd(pod) : undefined);
        const event = eventOfOutcome(outcome);
        if (event !== undefined) await events.write(named, event, AbortSignal.timeout(LONGEST_EVENT_MS));
        return outcome;
      } finally {
        underWay.delete(named.uid);
      }
    },
  };
}

interface Audit {
  readonly namespace: string;
  readonly pod: string;
  readonly uid: string;
  readonly job: string | undefined;
  readonly reason: Rule;
}

/** Returns the fields that each log line about a pod has; `reason` is the verdict's rule. */
export function auditOf(pod: KubeObject, { rule }: Verdict): Audit {
  const { namespace, name, uid } = podRefOf(pod);
  return { namespace, pod: name, uid, job: viewOf(pod).job, reason: rule };
}

function auditOfAct({ container, method }: Act, result: Result) {
  const why = result.kind === "taken" ? undefined : result.why;
  return { container, method: describeMethod(method), result: result.kind, why };
}

function conclude(audit: Audit, outcome: Outcome, log: Log): void {
  const { why } = reportOf(outcome);
  switch (outcome.kind) {
    case "ended":
      return log.info({ ...audit, why }, "sidecars ended");
    case "gave-up":
      return log.error({ ...audit, why }, "gave up: a sidecar still runs after all methods");
    case "put-off":
      return log.warn({ ...audit, why }, "cannot end the sidecars now: postponed");
    case "gone":
      return log.info({ ...audit, why }, "pod gone");
    case "left":
      return log.info({ ...audit, why }, "pod left alone");
    case "stopped":
      return log.info({ ...audit, why }, "stopped before the sidecars had ended");
  }
}

/**
 * Returns the seconds since the app's last container ended, at least 0. The end is by the node's clock, now by this
 * one.
 */
function secondsSinceEnd(pod: KubeObject): number {
  const times = partsOf(viewOf(pod)).apps.map(({ state }) => (state.kind === "terminated" ? state.finishedAt : 0));
  return Math.max(0, (Date.now() - Math.max(...times)) / 1000);
}
