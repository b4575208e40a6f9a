import { at, describeTarget, type HttpTarget } from "../core/address.ts";
import {
  type Action,
  begin,
  describeOutcome,
  type Event,
  fitMinimum,
  type Policy,
  type Step,
  step,
} from "../core/drain.ts";
import { toTenths } from "../core/duration.ts";
import { countInFlight, type InFlight, isCounting, parseStats, statsPath } from "../core/envoy-stats.ts";
import { excerpt, type HttpAnswer } from "../core/http-message.ts";
import { judge } from "../core/probe.ts";
import type { Sidecar } from "../core/sidecar.ts";
import { createHttpClient, type HttpClient } from "./http.ts";
import type { Log } from "./log.ts";
import { createQueue, type Queue } from "./queue.ts";
import { RequestFailed } from "./request-failed.ts";
import { deadline } from "./timer.ts";

/** For each request: pilot-agent's limit (istio pkg/envoy/admin.go). */
const REQUEST_MS = 2000;
const TRIES = 3;
const PAUSE_MS = 100;
/** A proxy with ten thousand listeners fits. */
const MAX_ANSWER = 16 * 1024 * 1024;

export interface DrainOptions {
  /** Milliseconds within which all of it fits. */
  readonly boundMs: number;
  /** Milliseconds to keep accepting at least: meanwhile the pod's address leaves the endpoints. */
  readonly minMs: number;
  /** Drained when no more than these are in flight. */
  readonly idle: number;
  readonly log: Log;
  /** Cuts it short. */
  readonly signal: AbortSignal;
  readonly onProgress?: (sidecar: Sidecar["name"], inFlight: InFlight) => void;
}

/** What became of the draining of one sidecar. */
export interface DrainReport {
  readonly sidecar: Sidecar["name"];
  /** Whether nothing is left in flight. */
  readonly ok: boolean;
  readonly outcome: string;
}

/** Drains the Envoys among the sidecars, at the same time; where there is none, it keeps accepting for the minimum. Whatever they do, it never rejects. */
export async function drainAll(sidecars: readonly Sidecar[], options: DrainOptions): Promise<readonly DrainReport[]> {
  const drains: Promise<DrainReport>[] = [];
  for (const sidecar of sidecars) if (sidecar.envoy !== undefined) drains.push(drainOne(sidecar, options));
  if (drains.length === 0) await keepAccepting(options);
  return Promise.all(drains);
}

/** Takes back that health checks fail: no container starts in a pod that is leaving, so the drain was a former container's. */
export function revive({ name, envoy }: Sidecar, log: Log): void {
  if (envoy === undefined) return;
  const client = createHttpClient();
  const target = at(envoy.admin, "/healthcheck/ok");
  client.send({ method: "POST", target, headers: [] }, (outcome) => {
    client[Symbol.dispose]();
    const answer = outcome instanceof RequestFailed ? outcome.message : `HTTP ${outcome.status}`;
    log.warn(
      { sidecar: name, answer },
      "it drains for a container before this one: its health checks are to pass again",
    );
  });
}

/** The draining of one sidecar that is under way. */
interface Drain {
  readonly sidecar: Sidecar;
  readonly envoy: NonNullable<Sidecar["envoy"]>;
  readonly options: DrainOptions;
  readonly queue: Queue<Event>;
  readonly client: HttpClient;
  /** Ends its requests and deadlines. */
  readonly over: AbortController;
  outbound: ReadonlySet<string>;
  /** What was last said of the counts. */
  said: string;
}

async function drainOne(sidecar: Sidecar, options: DrainOptions): Promise<DrainReport> {
  const start = performance.now();
  const { boundMs, minMs, idle, signal } = options;
  const policy: Policy = { boundMs, minMs: fitMinimum(minMs, boundMs), idle, failsHealth: !sidecar.isNative };
  const drain = open(sidecar, options);
  const cut = () => drain.queue.push({ kind: "cut" });
  if (signal.aborted) cut();
  else signal.addEventListener("abort", cut, { once: true });
  let [state, actions] = begin(policy);
  for (;;) {
    for (const action of actions) perform(drain, action);
    if (state.phase === "over") break;
    [state, actions] = step(state, await drain.queue.next(), policy);
  }
  signal.removeEventListener("abort", cut);
  drain.over.abort();
  drain.client[Symbol.dispose]();
  const { ok, text } = describeOutcome(state.outcome);
  const tookMs = toTenths(performance.now() - start);
  options.log[ok || signal.aborted ? "info" : "warn"]({ sidecar: sidecar.name, outcome: text, tookMs }, "drain");
  return { sidecar: sidecar.name, ok, outcome: text };
}

function open(sidecar: Sidecar, options: DrainOptions): Drain {
  const envoy = sidecar.envoy as NonNullable<Sidecar["envoy"]>;
  const over = new AbortController();
  const rest = { queue: createQueue<Event>(), client: createHttpClient(MAX_ANSWER), outbound: new Set<string>() };
  const drain: Drain = { sidecar, envoy, options, over, said: "", ...rest };
  if (envoy.drainPath.includes("inboundonly")) learnOutbound(drain).catch((error) => noteUnlearned(drain, error));
  return drain;
}

function perform(drain: Drain, action: Action): void {
  if (action.kind === "ask") {
    ask(drain, action.step).then(drain.queue.push, (error) => {
      if (!drain.over.signal.aborted) throw error; // a bug
    });
  }
  if (action.kind === "arm") {
    const { deadline: of, ms } = action;
    const cancel = deadline(ms, () => drain.queue.push({ kind: "deadline", of }));
    drain.over.signal.addEventListener("abort", cancel, { once: true });
  }
}

function ask(drain: Drain, step: Step): Promise<Event> {
  if (step === "count") return count(drain);
  return command(drain, step);
}

const commands = {
  "fail-health": {
    pathOf: () => "/healthcheck/fail",
    done: "health checks fail from now on; connections are still accepted",
    failed: "the health checks could not be failed",
  },
  "drain-listeners": {
    pathOf: ({ drainPath }: Drain["envoy"]) => drainPath,
    done: "the listeners drain",
    failed: "the listeners could not be drained",
  },
} as const;

/** A POST, asked again where it fails: what it does, it does once. */
async function command(drain: Drain, step: "fail-health" | "drain-listeners"): Promise<Event> {
  const { sidecar, envoy, options } = drain;
  const { pathOf, done, failed } = commands[step];
  const target = at(envoy.admin, pathOf(envoy));
  const fields = { sidecar: sidecar.name, request: `POST ${describeTarget(target)}` };
  const limit = AbortSignal.timeout(REQUEST_MS);
  for (let tries = 1; ; tries += 1) {
    const outcome = await tryRequest(drain, "POST", target, limit);
    if (!("reason" in outcome)) {
      options.log.info(fields, done);
      return { kind: "done", step };
    }
    const isRefused = outcome.isRefused && tries === 1;
    const isFinal = isRefused || limit.aborted || tries === TRIES;
    options.log[isFinal && !isRefused ? "warn" : "debug"]({ ...fields, reason: outcome.reason }, failed);
    if (isFinal) return { kind: "failed", step, isRefused };
    await Bun.sleep(PAUSE_MS);
  }
}

async function count(drain: Drain): Promise<Event> {
  const { sidecar, envoy, options } = drain;
  const outcome = await tryRequest(drain, "GET", at(envoy.admin, statsPath), AbortSignal.timeout(REQUEST_MS));
  const stats = "reason" in outcome ? undefined : parseStats(outcome.body);
  if (stats !== undefined && isCounting(stats)) {
    const inFlight = countInFlight(stats, drain.outbound);
    tellInFlight(drain, inFlight);
    options.onProgress?.(sidecar.name, inFlight);
    return { kind: "counted", inFlight };
  }
  const [reason, isRefused] =
    "reason" in outcome ? [outcome.reason, outcome.isRefused] : [`no statistics: ${excerpt(outcome.body)}`, false];
  if (!isRefused) options.log.warn({ sidecar: sidecar.name, reason }, "the work in flight could not be counted");
  return { kind: "failed", step: "count", isRefused };
}

/** Each count that differs from the one before, and once why connections are counted in place of requests. */
function tellInFlight(drain: Drain, { requests, connections, hasRequests }: InFlight): void {
  const { log } = drain.options;
  const sidecar = drain.sidecar.name;
  const said = `${requests} ${connections}`;
  log[said === drain.said ? "debug" : "info"]({ sidecar, requests, connections }, "in flight");
  if (!hasRequests && drain.said === "") {
    const hint = "proxyStatsMatcher: inclusionSuffixes: [downstream_rq_active] in proxy.istio.io/config shows them";
    log.info({ sidecar, hint }, "this Envoy shows no requests: connections are counted, idle ones too");
  }
  drain.said = said;
}

type Failed = { readonly reason: string; readonly isRefused: boolean };

async function tryRequest(
  { client, over }: Drain,
  method: string,
  target: HttpTarget,
  limit: AbortSignal,
): Promise<HttpAnswer | Failed> {
  const signal = AbortSignal.any([over.signal, limit]);
  try {
    const answer = await client.request({ method, target, headers: [] }, signal);
    const verdict = judge(answer);
    return verdict.ready ? answer : { reason: verdict.reason, isRefused: false };
  } catch (error) {
    if (error instanceof RequestFailed) return { reason: error.message, isRefused: error.kind === "refused" };
    if (limit.aborted) return { reason: "no answer in time", isRefused: false };
    throw error;
  }
}

/** Which listeners are outbound, which an inbound drain leaves alone: their work is not waited for. */
async function learnOutbound(drain: Drain): Promise<void> {
  const { listenerDumpPaths, parseOutbound } = await import("../core/envoy-json.ts");
  const limit = AbortSignal.timeout(REQUEST_MS);
  for (const path of listenerDumpPaths) {
    const outcome = await tryRequest(drain, "GET", at(drain.envoy.admin, path), limit);
    const names = "reason" in outcome ? undefined : parseOutbound(outcome.body);
    if (names === undefined) throw new Error("reason" in outcome ? outcome.reason : excerpt(outcome.body));
    drain.outbound = new Set([...drain.outbound, ...names]);
  }
}

function noteUnlearned({ sidecar, options, over }: Drain, error: Error): void {
  if (over.signal.aborted) return;
  const fields = { sidecar: sidecar.name, reason: error.message };
  options.log.debug(fields, "which listeners are outbound is not known: their work counts too");
}

function keepAccepting({ boundMs, minMs, log, signal }: DrainOptions): Promise<void> {
  const ms = Math.min(minMs, boundMs);
  log.info(
    { forMs: ms },
    "no Envoy to drain: connections are still accepted, while the pod's address leaves the endpoints",
  );
  const { promise, resolve } = Promise.withResolvers<void>();
  const cancel = deadline(ms, resolve);
  const cut = () => {
    cancel();
    resolve();
  };
  if (signal.aborted) cut();
  else signal.addEventListener("abort", cut, { once: true });
  return promise;
}
