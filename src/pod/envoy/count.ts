import { excerpt, type HttpAnswer } from "../../shared/http/core/http-framing.ts";
import type { Inbound } from "../../shared/sidecars/core/inbound.ts";
import { inboundOf } from "../../shared/sidecars/core/registry.ts";
import { readSocketsOf } from "../process/sockets.ts";
import { type EnvoyAdmin, isAnswer, type NoAnswer } from "./admin.ts";
import { askStats } from "./ask-stats.ts";
import { clustersPath, createInboundCount } from "./core/clusters.ts";
import type { DrainEvent } from "./core/drain.ts";
import { type CountedBy, countedByText, type InFlight, inFlightOf } from "./core/in-flight.ts";
import { type KnownListeners, scopeOf } from "./core/scope.ts";
import type { AskScope, DrainRequestOptions } from "./scope.ts";

/**
 * Creates a function that counts an Envoy's work in flight, by the best of its clusters, its statistics and the pod's
 * sockets, logs the count, and resolves with it as an event; a failure for the same reason as before at debug. If the connection is refused, or breaks for the first
 * time, the count fails, whatever the sockets say: those of an Envoy that is just exiting say that nothing is in
 * flight.
 */
export function createCounter(options: DrainRequestOptions, askScope: AskScope): () => Promise<DrainEvent> {
  const { sidecar, log } = options;
  const tell = createTeller(options);
  let wasBroken = false;
  let isAgain = false;
  let warned: string | undefined;
  return async () => {
    const { outcome, inFlight } = await count(options, () => askScope(isAgain));
    isAgain = inFlight === undefined;
    const isBroken = !isAnswer(outcome) && outcome.isBroken;
    const mayExit = isBroken && !wasBroken;
    wasBroken = isBroken;
    if (!isAnswer(outcome) && outcome.isRefused) return { kind: "failed", request: "count", isRefused: true };
    if (inFlight === undefined || mayExit) {
      const reason = isAnswer(outcome) ? `no statistics: ${excerpt(outcome.body)}` : outcome.reason;
      log[mayExit || reason === warned ? "debug" : "warn"]({ sidecar, reason }, "cannot count the work in flight");
      if (!mayExit) warned = reason;
      return { kind: "failed", request: "count", isRefused: false };
    }
    tell(inFlight);
    return { kind: "counted", inFlight };
  };
}

const nothingKnown: KnownListeners = { dumped: [], bound: [] };

interface Count {
  /** What the last request came to. */
  readonly outcome: HttpAnswer | NoAnswer;
  /** Undefined if nothing tells. */
  readonly inFlight: InFlight | undefined;
}

/** Asks a mesh's Envoy for its clusters. If they do not tell, and of any other Envoy, asks for the statistics. */
async function count({ sidecar, envoy, admin }: DrainRequestOptions, askScope: AskScope): Promise<Count> {
  const inbound = inboundOf(sidecar);
  const clusters = inbound === undefined ? undefined : await readClusters(admin, inbound);
  if (clusters?.underWay !== undefined)
    return { outcome: clusters.outcome, inFlight: inFlightOf(clusters, scopeOf(envoy.drainPath, nothingKnown)) };
  // an Envoy that does not answer is asked no more in the same count
  const isSilent = clusters !== undefined && !hasAnswered(clusters.outcome);
  const scope = isSilent ? scopeOf(envoy.drainPath, nothingKnown, inbound) : await askScope();
  const { answer: outcome, stats } = isSilent
    ? { answer: clusters.outcome, stats: undefined }
    : await askStats(admin.get, (answer) => (isAnswer(answer) ? answer.body : undefined));
  const counted = inFlightOf({ stats }, scope);
  const sockets = readSocketsOf(envoy);
  return { outcome, inFlight: counted ?? inFlightOf({ sockets }, scope) };
}

/** Reports whether Envoy answered, with any status. */
function hasAnswered(outcome: HttpAnswer | NoAnswer): boolean {
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
async function readClusters(admin: EnvoyAdmin, inbound: Inbound): Promise<ReadClusters> {
  const count = createInboundCount(inbound);
  const outcome = await admin.getPieces(clustersPath(inbound), count.take);
  return { outcome, underWay: isAnswer(outcome) ? count.end() : undefined };
}

type Tell = (inFlight: InFlight) => void;

/**
 * Creates a function that logs what is counted, first and when that changes, and each count, at debug if it is as
 * before.
 */
function createTeller({ sidecar, log, onProgress }: DrainRequestOptions): Tell {
  let by: CountedBy | undefined;
  let last: string | undefined;
  return (inFlight) => {
    const { requests, connections, countedBy } = inFlight;
    if (countedBy !== by)
      log.info({ sidecar, countedBy, what: countedByText[countedBy] }, "counting the work in flight");
    by = countedBy;
    const key = `${requests} ${connections}`;
    log[key === last ? "debug" : "info"]({ sidecar, requests, connections }, "in flight");
    last = key;
    onProgress?.(sidecar, inFlight);
  };
}
