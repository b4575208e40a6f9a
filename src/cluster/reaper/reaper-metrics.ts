import { Counter, Gauge, Histogram, Registry } from "prom-client";
import { addGauge, addProcess, type Exposition } from "../controller/process-metrics.ts";
import type { Interruption } from "../controller/reflector.ts";
import type { Presence } from "../inject/core/presence.ts";
import type { EndResult, Outcome } from "./core/attempt.ts";
import type { MethodKind } from "./core/methods.ts";
import { type Rule, ruleNames } from "./core/pod-rules.ts";
import { type PodRecords, presentIn } from "./pod-record.ts";

/** The reaper's metrics, and what changes them. */
export interface ReaperMetrics extends Exposition {
  /** Counts that a pod is judged by another rule than before. */
  judged(rule: Rule): void;
  /** Counts a request to a sidecar. */
  sent(method: MethodKind, result: EndResult["kind"]): void;
  /**
   * Counts an attempt.
   * @param seconds from the app's end to the sidecars'; undefined: they have not ended
   */
  attempted(outcome: Outcome["kind"], seconds: number | undefined): void;
  /** Counts a request to the API server; `code` is the status, or the reason if there was none. */
  requested(verb: string, code: string): void;
  /** Counts a watch that did not go on. */
  interrupted(why: Interruption): void;
}

/** The values that each scrape reads. */
interface ReaperGauges {
  readonly records: PodRecords;
  /** How many pods wait for their time or turn. */
  readonly depth: () => number;
  /** How many pods have an attempt under way. */
  readonly underWay: () => number;
  readonly missingRights: () => number;
  /** When all pods were last listed, in milliseconds since the epoch; undefined: not yet. */
  readonly syncedAt: () => number | undefined;
}

const outcomes: readonly Outcome["kind"][] = ["ended", "gave-up", "put-off", "left", "gone"];
const interruptions: readonly Interruption[] = ["ended", "expired", "failed"];
const VERDICTS = "Changes of the reason why a pod is stuck or left alone, by the new reason.";
const ACTS =
  "Requests to sidecars to exit, by method and result. taken: accepted; refused: the method does not work for this pod; unavailable: the API server or the kubelet did not answer.";
const ATTEMPTS =
  "Attempts to end a pod's sidecars, by outcome. gave-up: one did not exit; put-off: tried again later; left: no reason to act any more; gone: the pod was deleted.";
const RESTARTS =
  "Restarts of the watch of pods, by reason. ended: by the API server, which is normal; expired: its resource version was too old; failed: any other error.";
const REQUESTS = "Requests to the API server.";
const buckets = [5, 6, 7, 8, 10, 15, 20, 30, 60, 120, 300, 600];

/**
 * Creates the reaper's metrics, `ebb_reaper_...`, and those of the process, in a registry of their own. `image`: pods
 * that have ebb from another one are counted as `other`; undefined: none is.
 */
export function createReaperMetrics(version: string, gauges: ReaperGauges, image?: string | undefined): ReaperMetrics {
  const registry = new Registry();
  const counter = <L extends string>(name: string, help: string, ...labelNames: L[]) =>
    new Counter({ name: `ebb_reaper_${name}`, help, labelNames, registers: [registry] });
  const verdicts = counter("verdicts_total", VERDICTS, "reason");
  for (const reason of ruleNames) verdicts.inc({ reason }, 0);
  const acts = counter("acts_total", ACTS, "method", "result");
  const attempts = counter("attempts_total", ATTEMPTS, "outcome");
  for (const outcome of outcomes) attempts.inc({ outcome }, 0);
  const requests = counter("api_requests_total", REQUESTS, "verb", "code");
  const restarts = counter("watch_restarts_total", RESTARTS, "reason");
  for (const reason of interruptions) restarts.inc({ reason }, 0);
  const durations = new Histogram({
    name: "ebb_reaper_end_to_ended_seconds",
    help: "Seconds from the exit of a pod's app to the exit of its sidecars.",
    buckets,
    registers: [registry],
  });
  addStateGauge(registry, {
    name: "ebb_reaper_pods",
    help: "Running pods by the reason why each is stuck, or left alone, at the moment.",
    label: "reason",
    states: ruleNames,
    count: () => presentIn(gauges.records).map(({ verdict }) => verdict?.rule),
  });
  addStateGauge(registry, {
    name: "ebb_reaper_injection_pods",
    help: "Running pods by injection state. injected: the pod has ebb, if only to drain it; missing: its annotation asks for ebb, but it has none; skipped: it was selected, and the webhook left it as it is; other: its ebb is from another image than the reaper's --image.",
    label: "state",
    states: injections,
    count: () => presentIn(gauges.records).map(({ pod }) => injectionOf(pod.ebb, image)),
  });
  addGauges(registry, gauges);
  addProcess(registry, version);
  return {
    contentType: registry.contentType,
    text: () => registry.metrics(),
    judged: (reason) => verdicts.inc({ reason }),
    sent: (method, result) => acts.inc({ method, result }),
    attempted(outcome, seconds) {
      attempts.inc({ outcome });
      if (seconds !== undefined) durations.observe(seconds);
    },
    requested: (verb, code) => requests.inc({ verb, code }),
    interrupted: (reason) => restarts.inc({ reason }),
  };
}

/** A gauge of pods by their state. */
interface StateGauge<S extends string> {
  readonly name: string;
  readonly help: string;
  readonly label: string;
  /** Those that no pod is in are shown, too. */
  readonly states: readonly S[];
  /** Returns the state of each pod; undefined: it is not counted. */
  readonly count: () => readonly (S | undefined)[];
}

/** Registers a gauge that counts pods by state at each scrape. */
function addStateGauge<S extends string>(registry: Registry, { states, label, count, ...named }: StateGauge<S>): void {
  new Gauge({
    ...named,
    labelNames: [label],
    registers: [registry],
    collect() {
      for (const state of states) this.set({ [label]: state }, 0);
      for (const state of count()) if (state !== undefined) this.inc({ [label]: state });
    },
  });
}

const injections = ["missing", "skipped", "other", "injected"] as const;

function injectionOf(ebb: Presence, image: string | undefined): (typeof injections)[number] | undefined {
  if (ebb.kind === "present")
    return image === undefined || ebb.image === undefined || ebb.image === image ? "injected" : "other";
  if (ebb.isAsked) return "missing";
  return ebb.skipped === undefined ? undefined : "skipped";
}

function addGauges(registry: Registry, { depth, underWay, missingRights, syncedAt }: ReaperGauges): void {
  addGauge(registry, "ebb_reaper_queue_depth", "Pods that are waiting to be judged or reaped.", depth);
  addGauge(
    registry,
    "ebb_reaper_missing_rights",
    "Permissions that the reaper's account needs and lacks.",
    missingRights,
  );
  addGauge(registry, "ebb_reaper_attempts_in_progress", "Pods whose sidecars are being ended.", underWay);
  addGauge(
    registry,
    "ebb_reaper_last_sync_timestamp_seconds",
    "Time of the last full list of pods, in seconds since 1970; 0 before the first.",
    () => (syncedAt() ?? 0) / 1000,
  );
}
