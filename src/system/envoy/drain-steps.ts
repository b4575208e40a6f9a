import { at, describeTarget, isLoopback } from "../../core/base/address.ts";
import { excerpt, type HttpAnswer } from "../../core/base/http-framing.ts";
import { clustersPath, createInboundCount } from "../../core/envoy/clusters.ts";
import { directionsOf } from "../../core/envoy/directions.ts";
import { type Event, type Scope, type Step, scopeOf } from "../../core/envoy/drain.ts";
import { type CountedBy, countedByText, type InFlight, inFlightOf, isBest } from "../../core/envoy/in-flight.ts";
import { inboundDrain } from "../../core/envoy/inbound.ts";
import type { Stats } from "../../core/envoy/stats-model.ts";
import { createStatsReader, statsPath } from "../../core/envoy/stats-query.ts";
import { inboundOf } from "../../core/sidecars/registry.ts";
import type { Sidecar } from "../../core/sidecars/sidecar.ts";
import { type Log, logAt } from "../output/log.ts";
import { readSocketTables } from "../process/sockets.ts";
import { ADMIN_REQUEST_MS, type EnvoyAdmin, isAnswer, type NoAnswer } from "./admin.ts";
import { type KnownListeners, learnListeners } from "./listeners.ts";

const TRIES = 3;
const PAUSE_MS = 100;
/** For the directions of listeners, where an Envoy has many, or is slow to tell them: those of 2,000 take a second. */
const PATIENCE_MS = 1000;

export interface StepOptions {
  readonly sidecar: Sidecar["name"];
  readonly envoy: NonNullable<Sidecar["envoy"]>;
  readonly admin: EnvoyAdmin;
  readonly log: Log;
  readonly onProgress: ((sidecar: Sidecar["name"], inFlight: InFlight) => void) | undefined;
}

/** Asks one Envoy for the steps of a drain; says in the log what it answered, and resolves to the event that this is. */
export function drainSteps(options: StepOptions): (step: Step) => Promise<Event> {
  const directions = createDirections(options);
  const tell = createTeller(options);
  const isAlwaysInbound = options.envoy.drainPath === inboundDrain;
  if (!isAlwaysInbound) directions.begin();
  return async (step) => {
    if (step === "fail-health") return await command(options, step, "/healthcheck/fail");
    if (step === "count") return await count(options, directions, tell);
    if (!isAlwaysInbound) await directions.learned(PATIENCE_MS);
    return await command(options, step, directions.scope().path);
  };
}

const messages = {
  "fail-health": {
    done: "failed Envoy's health checks: still accepting connections",
    failed: "cannot fail Envoy's health checks",
  },
  "drain-listeners": { done: "draining the listeners", failed: "cannot drain the listeners" },
} as const;

/** Sends a POST, again while it fails: a repeated one has the same effect. */
async function command(
  { sidecar, envoy, admin, log }: StepOptions,
  step: "fail-health" | "drain-listeners",
  path: string,
): Promise<Event> {
  const { done, failed } = messages[step];
  const fields = { sidecar, request: `POST ${describeTarget(at(envoy.admin, path))}` };
  const end = performance.now() + ADMIN_REQUEST_MS;
  for (let tries = 1; ; tries += 1) {
    const outcome = await admin.post(path);
    if (isAnswer(outcome)) {
      log.info(fields, done);
      return { kind: "done", step };
    }
    const isRefused = outcome.isRefused && tries === 1;
    const isLast = isRefused || tries === TRIES || performance.now() > end;
    const reason = explained(outcome.reason, path);
    // nobody listens: it has drained and gone, or was never there, which the drain's outcome says
    logAt(log, isLast && !outcome.isRefused ? "warn" : "debug", { ...fields, reason }, failed);
    if (isLast) return { kind: "failed", step, isRefused };
    await Bun.sleep(PAUSE_MS);
  }
}

function explained(reason: string, path: string): string {
  if (!reason.startsWith("HTTP 403")) return reason;
  return `${reason}: Envoy's admin interface does not allow this path (admin.allow_paths); allow ${path.split("?")[0]}`;
}

/** The statistics of a proxy with ten thousand listeners fit. */
const MOST_STATS = 16 * 1024 * 1024;

/** Counts by the best statistics that Envoy publishes. Only a refused connection ends the search for another way to count. */
async function count({ sidecar, admin, envoy, log }: StepOptions, directions: Directions, tell: Tell): Promise<Event> {
  let read = await statsOf(admin);
  if (read.stats?.published.connections === true && !directions.areLearned()) {
    read = { ...read, stats: undefined }; // of many listeners it is megabytes, and read anew
    await directions.learned(PATIENCE_MS);
    read = await statsOf(admin);
  }
  const { outcome, stats } = read;
  if (!isAnswer(outcome) && outcome.isRefused) return { kind: "failed", step: "count", isRefused: true };
  const scope = directions.scope();
  let inFlight = inFlightOf({ stats }, scope);
  if (!isBest(inFlight)) {
    const underWay = isTold(outcome) ? await underWayOf(admin, scope) : undefined;
    const sockets = isLoopback(envoy.admin.address) ? readSocketTables() : undefined;
    inFlight = inFlightOf({ stats, underWay, sockets }, scope);
  }
  if (inFlight === undefined) {
    const reason = isAnswer(outcome) ? `no statistics: ${excerpt(outcome.body)}` : outcome.reason;
    log.warn({ sidecar, reason }, "cannot count the work in flight");
    return { kind: "failed", step: "count", isRefused: false };
  }
  tell(inFlight);
  return { kind: "counted", inFlight };
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

/** Whether it answered, if only that it does not allow this. An Envoy that does not answer is not asked more in the same count. */
function isTold(outcome: HttpAnswer | NoAnswer): boolean {
  return isAnswer(outcome) || outcome.reason.startsWith("HTTP ");
}

/** Thousands of clusters are many megabytes, of an Envoy that knows no filter: a sum is kept. */
async function underWayOf(admin: EnvoyAdmin, { inbound }: Scope): Promise<number | undefined> {
  if (inbound === undefined) return undefined;
  const count = createInboundCount(inbound);
  return isAnswer(await admin.getLines(clustersPath(inbound), count.take)) ? count.active() : undefined;
}

type Tell = (inFlight: InFlight) => void;

/** Says what is counted, at first and where it changes, and each count that differs from the one before. */
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

/** Which listeners are inbound and outbound: where some are inbound only those are drained, and what is outbound is not waited for. */
interface Directions {
  begin(): void;
  /** Resolves when they are learned, or have taken too long. */
  learned(withinMs: number): Promise<unknown>;
  areLearned(): boolean;
  /** By what is known so far. */
  scope(): Scope;
}

/** They are not needed where a mesh's statistics are thinned out: its clusters tell. */
function createDirections({ sidecar, envoy, admin, log }: StepOptions): Directions {
  const known: KnownListeners = new Map();
  let learning: Promise<void> | undefined;
  let areLearned = false;
  const get = async (path: string) => {
    const outcome = await admin.get(path);
    return isAnswer(outcome) ? { text: outcome.body } : { problem: outcome.reason };
  };
  const learn = async (): Promise<void> => {
    const reason = await learnListeners(get, known);
    areLearned = true;
    if (reason !== undefined) log.debug({ sidecar, reason }, "cannot learn the direction of some listeners");
  };
  const begin = (): Promise<void> => {
    learning ??= learn();
    learning.catch(() => undefined); // it ends with the drain; before, who awaits it is told
    return learning;
  };
  return {
    begin: () => void begin(),
    learned: (withinMs) => Promise.race([begin(), Bun.sleep(withinMs)]),
    areLearned: () => areLearned,
    scope: () => scopeOf(envoy.drainPath, directionsOf([...known.values()]), inboundOf(sidecar)),
  };
}
