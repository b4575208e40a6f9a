import { isLoopback } from "../../core/base/address.ts";
import { excerpt, type HttpAnswer } from "../../core/base/http-framing.ts";
import { clustersPath, createInboundCount } from "../../core/envoy/clusters.ts";
import type { Event, Scope } from "../../core/envoy/drain.ts";
import { type CountedBy, countedByText, type InFlight, inFlightOf, isBestCount } from "../../core/envoy/in-flight.ts";
import type { Stats } from "../../core/envoy/stats-model.ts";
import { createStatsReader, statsPath } from "../../core/envoy/stats-query.ts";
import { logAt } from "../output/log.ts";
import { readSocketTables } from "../process/sockets.ts";
import { type EnvoyAdmin, isAnswer, type NoAnswer } from "./admin.ts";
import { type Directions, PATIENCE_MS } from "./directions.ts";
import type { StepOptions } from "./step-options.ts";

/** In bytes: enough for the statistics of a proxy with ten thousand listeners. */
const MOST_STATS = 16 * 1024 * 1024;

/**
 * Creates a function that counts an Envoy's work in flight, by the best of its statistics, its clusters and the pod's
 * sockets, logs the count, and resolves with it as an event. If the connection is refused, or breaks for the first
 * time, the count fails, whatever the sockets say: those of an Envoy that is just exiting say that nothing is in
 * flight.
 */
export function createCounter(options: StepOptions, directions: Directions): () => Promise<Event> {
  const { sidecar, admin, envoy, log } = options;
  const tell = createTeller(options);
  let wasBroken = false;
  return async () => {
    const { outcome, stats } = await readStats(admin, directions);
    const scope = directions.scope();
    let last = outcome;
    let inFlight = inFlightOf({ stats }, scope);
    if (!isBestCount(inFlight)) {
      const clusters = isTold(outcome) ? await readClusters(admin, scope) : undefined;
      last = clusters?.outcome ?? outcome;
      const sockets = isLoopback(envoy.admin.address) ? readSocketTables() : undefined;
      inFlight = inFlightOf({ stats, underWay: clusters?.underWay, sockets }, scope);
    }
    const isBroken = !isAnswer(last) && last.isBroken;
    const mayExit = isBroken && !wasBroken;
    wasBroken = isBroken;
    if (!isAnswer(last) && last.isRefused) return { kind: "failed", step: "count", isRefused: true };
    if (inFlight === undefined || mayExit) {
      const told = mayExit ? last : outcome;
      const reason = isAnswer(told) ? `no statistics: ${excerpt(told.body)}` : told.reason;
      logAt(log, mayExit ? "debug" : "warn", { sidecar, reason }, "cannot count the work in flight");
      return { kind: "failed", step: "count", isRefused: false };
    }
    tell(inFlight);
    return { kind: "counted", inFlight };
  };
}

/**
 * Reads the statistics. Reads them again if they tell of connections of listeners whose directions are not known yet.
 */
async function readStats(admin: EnvoyAdmin, directions: Directions): Promise<ReadStats> {
  let read: ReadStats | undefined = await statsOf(admin);
  if (read.stats?.published.connections !== true || directions.areLearned()) return read;
  read = undefined; // with many listeners it is megabytes
  await directions.learned(PATIENCE_MS);
  return await statsOf(admin);
}

interface ReadStats {
  readonly outcome: HttpAnswer | NoAnswer;
  readonly stats: Stats | undefined;
}

async function statsOf(admin: EnvoyAdmin): Promise<ReadStats> {
  const reader = createStatsReader();
  const outcome = await admin.getLines(statsPath, reader.take, MOST_STATS);
  return { outcome, stats: isAnswer(outcome) ? reader.stats() : undefined };
}

/**
 * Reports whether Envoy answered, with any status. An Envoy that does not answer is asked no more in the same count.
 */
function isTold(outcome: HttpAnswer | NoAnswer): boolean {
  return isAnswer(outcome) || outcome.reason.startsWith("HTTP ");
}

interface ReadClusters {
  readonly outcome: HttpAnswer | NoAnswer;
  /** The requests and connections under way to inbound clusters; undefined if the answer does not tell. */
  readonly underWay: number | undefined;
}

/**
 * Counts what is under way to inbound clusters. Keeps a sum alone: an Envoy that knows no filter answers with all
 * clusters, of which thousands are many megabytes.
 */
async function readClusters(admin: EnvoyAdmin, { inbound }: Scope): Promise<ReadClusters | undefined> {
  if (inbound === undefined) return undefined;
  const count = createInboundCount(inbound);
  const outcome = await admin.getLines(clustersPath(inbound), count.take);
  return { outcome, underWay: isAnswer(outcome) ? count.active() : undefined };
}

type Tell = (inFlight: InFlight) => void;

/**
 * Creates a function that logs what is counted, first and when that changes, and each count, at debug if it is as
 * before.
 */
function createTeller({ sidecar, log, onProgress }: StepOptions): Tell {
  let by: CountedBy | undefined;
  let said: string | undefined;
  return (inFlight) => {
    const { requests, connections, countedBy } = inFlight;
    if (countedBy !== by)
      log.info({ sidecar, countedBy, what: countedByText[countedBy] }, "counting the work in flight");
    by = countedBy;
    const key = `${requests} ${connections}`;
    logAt(log, key === said ? "debug" : "info", { sidecar, requests, connections }, "in flight");
    said = key;
    onProgress?.(sidecar, inFlight);
  };
}
