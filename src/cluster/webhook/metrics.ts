import { Counter, Gauge, Histogram, Registry } from "prom-client";
import { addGauge, addProcess, type Exposition } from "../controller/process-metrics.ts";
import { type Lookup, lookupFailures } from "../image/core/lookup.ts";
import type { AdmissionResult } from "./admission-review.ts";
import { type Cut, cuts } from "./connections.ts";
import type { Decision } from "./reviewer.ts";

/** The webhook's metrics, and what changes them. */
export interface Metrics extends Exposition {
  /** Counts a decision, its time, and what was looked up for it. The patch counts only if ebb was put in. */
  decided(decision: Decision, seconds: number): void;
  /** Counts an HTTP response. */
  answered(status: number): void;
  /** Counts a connection that was closed although its client would have kept it. */
  cut(why: Cut): void;
  /** Sets when the certificate that is served expires, in milliseconds since the epoch. */
  expires(atMs: number): void;
}

/** The values that each scrape reads. */
interface Gauges {
  /** How many requests are in progress. */
  readonly inFlight: () => number;
  /** How many connections are open. */
  readonly connections: () => number;
}

const results: readonly AdmissionResult[] = ["injected", "removed", "unchanged", "refused", "skipped"];

/** The statuses that alerts count: of a series that begins with its first response, `increase` is 0. */
const expectedStatuses = [200, 429, 500];

const durationBuckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
const sizeBuckets = [512, 1024, 2048, 4096, 8192, 16_384, 65_536, 1_048_576];

/** Creates the webhook's metrics, `ebb_webhook_...`, and those of the process, in a registry of their own. */
export function createMetrics(version: string, { inFlight, connections }: Gauges): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const counter = <L extends string>(name: string, label: L, help: string) =>
    new Counter({ name: `ebb_webhook_${name}_total`, help, labelNames: [label], registers });
  const histogram = (name: string, buckets: number[], help: string) =>
    new Histogram({ name: `ebb_webhook_${name}`, help, buckets, registers });
  const requests = counter(
    "requests",
    "result",
    "Admission requests, by result. skipped: the pod was created without ebb, because nobody knows its command, or because it cannot be changed and only --all or its namespace's label selected it. The API server may send a pod twice (reinvocation).",
  );
  for (const result of results) requests.inc({ result }, 0);
  const responses = counter("responses", "code", "HTTP responses, by status.");
  for (const code of expectedStatuses) responses.inc({ code }, 0);
  const countImages = createImageMetrics(registers);
  const durations = histogram(
    "request_duration_seconds",
    durationBuckets,
    "Seconds from a request's head to its answer.",
  );
  const patches = histogram("patch_bytes", sizeBuckets, "Size of the patches in bytes.");
  const cut = counter(
    "connections_cut",
    "reason",
    "Connections that the webhook closed, by reason: a slow handshake, request or reader, an idle connection, or too many connections.",
  );
  for (const reason of cuts) cut.inc({ reason }, 0);
  const expiry = new Gauge({
    name: "ebb_webhook_certificate_expiry_timestamp_seconds",
    help: "Expiry of the certificate that is served, in seconds since 1970; 0 if there is none yet.",
    registers,
  });
  addGauge(registry, "ebb_webhook_requests_in_flight", "Requests in flight.", inFlight);
  addGauge(registry, "ebb_webhook_connections", "Open connections.", connections);
  addProcess(registry, version);
  return {
    contentType: registry.contentType,
    text: () => registry.metrics(),
    decided(decision, seconds) {
      const { result, patch = "" } = decision.response;
      requests.inc({ result });
      durations.observe(seconds);
      if (result === "injected") patches.observe(Buffer.byteLength(patch));
      countImages(decision);
    },
    answered: (code) => responses.inc({ code }),
    cut: (reason) => cut.inc({ reason }),
    expires: (atMs) => expiry.set(atMs / 1000),
  };
}

/** Creates the metrics about images of unknown commands. Returns a function that counts those of a decision. */
function createImageMetrics(registers: Registry[]): (decision: Decision) => void {
  const lookupCounter = new Counter({
    name: "ebb_webhook_image_lookups_total",
    help: "Images whose command a pod needed, by result. known: remembered; found: a registry was asked; all others: why it is unknown, also if that is remembered.",
    labelNames: ["result"],
    registers,
  });
  for (const result of ["known", "found", ...lookupFailures]) lookupCounter.inc({ result }, 0);
  const unwrapped = new Counter({
    name: "ebb_webhook_unwrapped_containers_total",
    help: "Containers that ebb drains and does not start, because their command is unknown, or must stay.",
    registers,
  });
  return ({ response, lookups, waitedFor }) => {
    unwrapped.inc(response.drained?.length ?? 0);
    for (const [key, lookup] of lookups) lookupCounter.inc({ result: resultOf(lookup, waitedFor.has(key)) });
  };
}

function resultOf(lookup: Lookup, hasWaited: boolean): string {
  if (lookup.kind === "unknown") return lookup.failure;
  return hasWaited ? "found" : "known";
}
