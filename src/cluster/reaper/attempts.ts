import type { Log } from "../../shared/output/log.ts";
import type { KubeObject } from "../api/client.ts";
import { type Audit, type StepContext, type Stuck, stepOf } from "./attempt-step.ts";
import { partsOf } from "./core/pod-containers.ts";
import { viewOf } from "./core/pod-view.ts";
import { firstAttempt, type Next, type Observation, type Outcome } from "./core/reconcile.ts";
import { eventOfOutcome, reportOf } from "./core/report.ts";
import type { Verdict } from "./core/verdict.ts";
import { podRefOf } from "./methods/target.ts";

/** The pods whose sidecars are being ended, by UID, and what was tried on each. */
export interface Attempts {
  readonly size: number;
  has(uid: string): boolean;
  /** Begins to end the sidecars of a stuck pod. */
  begin(pod: KubeObject, verdict: Verdict): void;
  /**
   * Takes a pod's next step. Resolves with the milliseconds until the one after that, or with the outcome, after which
   * the pod is forgotten. Once the signal is aborted it does nothing more. Rejects only on a bug.
   */
  step(uid: string, signal: AbortSignal): Promise<number | Outcome>;
  /** Takes what the watch has seen of a pod. It may end the wait for an answer. */
  changed(uid: string, seen: Observation): void;
}

const READ_EVERY_MS = 2000;

/**
 * Creates the memory of attempts to end the sidecars of stuck pods. Each request that was sent has a log line and a
 * metric, and each outcome. A request has an Event if the sidecar may have heard it, an outcome if the sidecars ended or
 * were given up.
 */
export function createAttempts(context: StepContext): Attempts {
  const all = new Map<string, Stuck>();
  const conclude = ({ ref, audit, pod }: Stuck, outcome: Outcome): void => {
    all.delete(ref.uid);
    tell(audit, outcome, context.log);
    context.metrics.attempted(outcome.kind, outcome.kind === "ended" ? secondsSinceEnd(pod) : undefined);
  };
  return {
    get size() {
      return all.size;
    },
    has: (uid) => all.has(uid),
    begin(pod, verdict) {
      const ref = podRefOf(pod);
      all.set(ref.uid, { pod, ref, audit: auditOf(pod, verdict), seen: verdict, attempt: firstAttempt });
    },
    async step(uid, signal) {
      const one = all.get(uid);
      if (one === undefined) return { kind: "gone" };
      const next = await nextOf(one, signal, context);
      if (next === undefined) return 0;
      if (next.kind === "over") {
        conclude(one, next.outcome);
        const event = eventOfOutcome(next.outcome);
        if (event !== undefined) await context.events.write(one.ref, event);
        return next.outcome;
      }
      one.attempt = next.attempt;
      const leftMs = next.kind === "wait" ? next.untilMs - performance.now() : 0;
      const { exiting, unread } = next.attempt;
      const isPolled = context.polls && exiting !== undefined && unread === 0;
      return Math.max(0, isPolled ? Math.min(leftMs, READ_EVERY_MS) : leftMs);
    },
    changed(uid, seen) {
      const one = all.get(uid);
      if (one === undefined) return;
      one.seen = seen;
      if (seen.kind === "gone" || (seen.kind === "leave" && seen.rule !== "being-ended")) one.overtake?.();
    },
  };
}

/** Takes the next step. Resolves with undefined if the signal is aborted. */
async function nextOf(one: Stuck, signal: AbortSignal, context: StepContext): Promise<Next | undefined> {
  try {
    signal.throwIfAborted();
    return await stepOf(one, signal, context);
  } catch (error) {
    if (!signal.aborted) throw error;
    return undefined;
  }
}

/** Returns the fields that each log line about a pod has. */
export function auditOf(pod: KubeObject, { rule }: Verdict): Audit {
  const { namespace, name, uid } = podRefOf(pod);
  return { namespace, pod: name, uid, job: viewOf(pod).job, reason: rule };
}

function tell(audit: Audit, outcome: Outcome, log: Log): void {
  const fields = { ...audit, why: reportOf(outcome).why };
  switch (outcome.kind) {
    case "ended":
      return log.info(fields, "sidecars ended");
    case "gave-up":
      return log.error(fields, "gave up: a sidecar still runs after all methods");
    case "put-off":
      return log.warn(fields, "cannot end the sidecars now: postponed");
    case "gone":
      return log.info(fields, "pod gone");
    case "left":
      return log.info(fields, "pod left alone");
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
