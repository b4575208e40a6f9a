import type { Exposition } from "../src/cluster/controller/process-metrics.ts";
import { methodKinds } from "../src/cluster/reaper/core/methods.ts";
import { createReaperMetrics } from "../src/cluster/reaper/reaper-metrics.ts";
import { createMetrics } from "../src/cluster/webhook/metrics.ts";

/** A metric, read from Prometheus's text exposition. */
export interface Metric {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  /** The labels but `le`, each with the values that it has in the exposition. */
  readonly labels: ReadonlyMap<string, ReadonlySet<string>>;
  /** How many series it has. */
  readonly series: number;
}

/** Returns the metrics of the webhook. */
export function webhookMetrics(): Promise<readonly Metric[]> {
  return metricsOf(createMetrics("1", { inFlight: () => 0, connections: () => 0 }));
}

/**
 * Returns the metrics of the reaper. A request to a sidecar of each kind and result, and one request, are counted first: without a
 * sample a metric shows no labels.
 */
export function reaperMetrics(): Promise<readonly Metric[]> {
  const gauges = { records: new Map(), depth: () => 0, underWay: () => 0 };
  const metrics = createReaperMetrics("1", { ...gauges, missingRights: () => 0, syncedAt: () => undefined });
  for (const kind of methodKinds) {
    for (const result of ["taken", "refused", "unavailable"] as const) metrics.sent(kind, result);
  }
  metrics.requested("get", "200");
  return metricsOf(metrics);
}

/** Reads an exposition. Rejects if a metric has no sample, because its labels are then not known. */
async function metricsOf(exposition: Exposition): Promise<readonly Metric[]> {
  const text = await exposition.text();
  return [...text.matchAll(/^# HELP (\w+) (.*)\n# TYPE \w+ (\w+)\n(.*)/gm)].map(
    ([, name = "", help = "", type = ""]) => {
      const labels = new Map<string, Set<string>>();
      const samples = [...text.matchAll(new RegExp(`^${name}(?:_bucket|_sum|_count)?(?:\\{(.*)\\})? `, "gm"))];
      if (samples.length === 0) throw new Error(`${name} has no sample`);
      for (const [, pairs = ""] of samples) {
        for (const [, label = "", value = ""] of pairs.matchAll(/(\w+)="([^"]*)"/g)) {
          if (label !== "le") labels.set(label, (labels.get(label) ?? new Set()).add(value));
        }
      }
      return { name, type, help, labels, series: samples.length };
    },
  );
}
