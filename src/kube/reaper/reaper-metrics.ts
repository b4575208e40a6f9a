import { Counter, Histogram, Registry } from "prom-client";
import { presenceOf, requestedBy } from "../../core/doctor/presence.ts";
import type { Outcome, Result } from "../../core/reap/attempt-steps.ts";
import type { MethodKind } from "../../core/reap/methods.ts";
import { ruleNames } from "../../core/reap/pod-rules.ts";
import type { Verdict } from "../../core/reap/verdict.ts";
import type { KubeObject } from "../api/client.ts";
import { addGauge, addProcess, type Exposition } from "../controller/process-metrics.ts";
import type { Interruption } from "./pods.ts";
import { createTally } from "./tally.ts";

export interface ReaperMetrics extends Exposition {
  /** A verdict about a pod; counted where it is another than before. */
  judged(uid: string, verdict: Verdict): void;
  /** Whether ebb was put into a pod that runs. */
  saw(uid: string, pod: KubeObject): void;
  forgot(uid: string): void;
  acted(method: MethodKind, result: Result["kind"]): void;
  /** @param seconds from the app's end to the sidecars' */
  attempted(outcome: Outcome["kind"], seconds: number | undefined): void;
  requested(verb: string, code: string): void;
  interrupted(why: Interruption): void;
}

/** What is read when somebody asks. */
export interface ReaperGauges {
  readonly leads: () => boolean;
  readonly isCircuitOpen: () => boolean;
  readonly depth: () => number;
  readonly underWay: () => number;
  readonly missingRights: () => number;
  /** Milliseconds since the epoch. */
  readonly syncedAt: () => number | undefined;
}

const outcomes: readonly Outcome["kind"][] = ["ended", "gave-up", "put-off", "left", "gone", "stopped"];
const interruptions: readonly Interruption[] = ["ended", "expired", "failed"];
const buckets = [5, 6, 7, 8, 10, 15, 20, 30, 60, 120, 300, 600];

/** Creates the reaper's metrics, `ebb_reaper_...`, in a registry of their own. */
export function createReaperMetrics(version: string, gauges: ReaperGauges, image?: string | undefined): ReaperMetrics {
  const registry = new Registry();
  const counter = <L extends string>(name: string, help: string, ...labelNames: L[]) =>
    new Counter({ name: `ebb_reaper_${name}`, help, labelNames, registers: [registry] });
  const verdicts = counter("verdicts_total", "Changes of the reason why a pod is stuck or left.", "reason");
  for (const reason of ruleNames) verdicts.inc({ reason }, 0);
  const acts = counter(
    "acts_total",
    "What was asked of sidecars, by which method, with what result.",
    "method",
    "result",
  );
  const attempts = counter("attempts_total", "Reapings of pods by how they ended.", "outcome");
  for (const outcome of outcomes) attempts.inc({ outcome }, 0);
  const requests = counter("api_requests_total", "Requests to the API server but those for the Lease.", "verb", "code");
  const restarts = counter("watch_restarts_total", "Why watches of pods were begun again.", "reason");
  for (const reason of interruptions) restarts.inc({ reason }, 0);
  const durations = new Histogram({
    name: "ebb_reaper_end_to_ended_seconds",
    help: "From the end of a pod's app to the end of its sidecars.",
    buckets,
    registers: [registry],
  });
  const judged = createTally(registry, {
    name: "ebb_reaper_pods",
    help: "Running pods by the reason why each is stuck or left now.",
    label: "reason",
    states: ruleNames,
  });
  const injected = createTally(registry, {
    name: "ebb_reaper_injection_pods",
    help: "Running pods by whether ebb was put into them; missing: the pod's annotation asks for it; other: by another image than the reaper's --image.",
    label: "state",
    states: injections,
  });
  addGauges(registry, gauges);
  addProcess(registry, version);
  return {
    contentType: registry.contentType,
    text: () => registry.metrics(),
    judged(uid, { rule: reason }) {
      if (judged.put(uid, reason)) verdicts.inc({ reason });
    },
    saw: (uid, pod) => void injected.put(uid, injectionOf(pod, image)),
    forgot(uid) {
      judged.put(uid, undefined);
      injected.put(uid, undefined);
    },
    acted: (method, result) => acts.inc({ method, result }),
    attempted(outcome, seconds) {
      attempts.inc({ outcome });
      if (seconds !== undefined) durations.observe(seconds);
    },
    requested: (verb, code) => requests.inc({ verb, code }),
    interrupted: (reason) => restarts.inc({ reason }),
  };
}

const injections = ["missing", "other", "injected"] as const;

function injectionOf(pod: KubeObject, image: string | undefined): (typeof injections)[number] | undefined {
  const presence = presenceOf(pod);
  if (presence.kind === "absent") return requestedBy(pod, { label: undefined, all: false }) && "missing";
  return image === undefined || presence.image === undefined || presence.image === image ? "injected" : "other";
}

function addGauges(
  registry: Registry,
  { leads, isCircuitOpen, depth, underWay, missingRights, syncedAt }: ReaperGauges,
): void {
  addGauge(registry, "ebb_reaper_leader", "1: this replica is the one that acts.", () => Number(leads()));
  addGauge(registry, "ebb_reaper_circuit_open", "1: the API server is unwell, and is asked nothing for a while.", () =>
    Number(isCircuitOpen()),
  );
  addGauge(registry, "ebb_reaper_queue_depth", "Pods that wait for their time or their turn.", depth);
  addGauge(registry, "ebb_reaper_missing_rights", "Rights that its account needs and lacks.", missingRights);
  addGauge(registry, "ebb_reaper_attempts_in_progress", "Pods that are being reaped.", underWay);
  addGauge(
    registry,
    "ebb_reaper_last_sync_timestamp_seconds",
    "When all pods were last listed, in seconds since 1970; 0: not yet.",
    () => (syncedAt() ?? 0) / 1000,
  );
}
