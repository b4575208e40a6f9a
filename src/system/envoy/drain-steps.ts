import { at, describeTarget } from "../../core/address.ts";
import { type Event, type Step, scopeOf } from "../../core/envoy/drain.ts";
import type { Directions } from "../../core/envoy/json.ts";
import {
  countInFlight,
  type InFlight,
  inboundClustersPath,
  isCounting,
  orInbound,
  parseStats,
  statsPath,
} from "../../core/envoy/stats.ts";
import { excerpt } from "../../core/http-message.ts";
import type { Sidecar } from "../../core/sidecars/sidecar.ts";
import type { Log } from "../log.ts";
import { ADMIN_REQUEST_MS, type EnvoyAdmin, isAnswer, type NoAnswer } from "./admin.ts";

const TRIES = 3;
const PAUSE_MS = 100;
/** For the directions of listeners, where an Envoy is slow to tell them. */
const PATIENCE_MS = 500;

export interface StepOptions {
  readonly sidecar: Sidecar["name"];
  readonly envoy: NonNullable<Sidecar["envoy"]>;
  readonly admin: EnvoyAdmin;
  readonly log: Log;
  readonly onProgress: ((sidecar: Sidecar["name"], inFlight: InFlight) => void) | undefined;
}

/** Asks one Envoy for the steps of a drain; says in the log what it answered, and resolves to the event that this is. */
export function drainSteps(options: StepOptions): (step: Step) => Promise<Event> {
  let known: Directions = { inbound: [], outbound: [] };
  const learned = learnDirections(options).then((directions) => {
    known = directions;
  });
  learned.catch(() => undefined); // it ends with the drain; before, who awaits it is told
  let said: string | undefined;
  return async (step) => {
    if (step === "fail-health") return await command(options, step, "/healthcheck/fail");
    if (step === "drain-listeners") await Promise.race([learned, Bun.sleep(PATIENCE_MS)]);
    const { path, leftOut } = scopeOf(options.envoy.drainPath, known);
    if (step === "drain-listeners") return await command(options, step, path);
    return await count(options, leftOut, (inFlight) => {
      tellInFlight(options, inFlight, said);
      said = keyOf(inFlight);
    });
  };
}

const messages = {
  "fail-health": {
    done: "health checks fail from now on; connections are still accepted",
    failed: "the health checks could not be failed",
  },
  "drain-listeners": { done: "the listeners drain", failed: "the listeners could not be drained" },
} as const;

/** A POST, asked again where it fails: done twice it does the same. */
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
    log[isLast && !isRefused ? "warn" : "debug"]({ ...fields, reason }, failed);
    if (isLast) return { kind: "failed", step, isRefused };
    await Bun.sleep(PAUSE_MS);
  }
}

function explained(reason: string, path: string): string {
  if (!reason.startsWith("HTTP 403")) return reason;
  return `${reason}: Envoy's admin interface does not allow this path (admin.allow_paths); allow ${path.split("?")[0]}`;
}

async function count(
  { sidecar, admin, log, onProgress }: StepOptions,
  leftOut: ReadonlySet<string>,
  tell: (inFlight: InFlight) => void,
): Promise<Event> {
  const outcome = await admin.get(statsPath);
  const stats = parseStats(isAnswer(outcome) ? outcome.body : "");
  if (!isCounting(stats)) {
    const { reason, isRefused } = isAnswer(outcome) ? noStatistics(outcome.body) : outcome;
    if (!isRefused) log.warn({ sidecar, reason }, "the work in flight could not be counted");
    return { kind: "failed", step: "count", isRefused };
  }
  const counted = countInFlight(stats, leftOut);
  const inFlight = counted.hasRequests ? counted : orInbound(counted, await clustersOf(admin));
  tell(inFlight);
  onProgress?.(sidecar, inFlight);
  return { kind: "counted", inFlight };
}

function noStatistics(body: string): NoAnswer {
  return { reason: `no statistics: ${excerpt(body)}`, isRefused: false };
}

async function clustersOf(admin: EnvoyAdmin): Promise<string | undefined> {
  const outcome = await admin.get(inboundClustersPath);
  return isAnswer(outcome) ? outcome.body : undefined;
}

/** Each count that differs from the one before; with the first, why connections are counted in place of requests. */
function tellInFlight({ sidecar, log }: StepOptions, inFlight: InFlight, said: string | undefined): void {
  const { requests, connections, hasRequests } = inFlight;
  log[keyOf(inFlight) === said ? "debug" : "info"]({ sidecar, requests, connections }, "in flight");
  if (hasRequests || said !== undefined) return;
  const hint = "proxyStatsMatcher: inclusionSuffixes: [downstream_rq_active] in proxy.istio.io/config shows them";
  log.info({ sidecar, hint }, "this Envoy shows no requests: connections are counted, idle ones too");
}

function keyOf({ requests, connections }: InFlight): string {
  return `${requests} ${connections}`;
}

/** Which listeners are inbound and outbound: where some are inbound only those are drained, and what is outbound is not waited for. */
async function learnDirections({ sidecar, admin, log }: StepOptions): Promise<Directions> {
  const { listenerDumpPaths, parseDirections } = await import("../../core/envoy/json.ts");
  const all: { inbound: string[]; outbound: string[] } = { inbound: [], outbound: [] };
  for (const path of listenerDumpPaths) {
    const outcome = await admin.get(path);
    const directions = isAnswer(outcome) ? parseDirections(outcome.body) : undefined;
    if (directions === undefined) {
      const reason = isAnswer(outcome) ? excerpt(outcome.body) : outcome.reason;
      log.debug({ sidecar, reason }, "which listeners are outbound is not known: their work counts too");
      break;
    }
    all.inbound.push(...directions.inbound);
    all.outbound.push(...directions.outbound);
  }
  return all;
}
