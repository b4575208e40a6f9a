import { toTenths } from "../../shared/core/duration.ts";
import { fitMinimum } from "../../shared/core/shutdown-budget.ts";
import { createQueue, type Queue } from "../../shared/io/queue.ts";
import { deadline } from "../../shared/io/timer.ts";
import type { Log } from "../../shared/output/log.ts";
import { kindOf } from "../../shared/sidecars/core/registry.ts";
import type { Sidecar } from "../../shared/sidecars/core/sidecar.ts";
import { locateAdmin } from "../find/admin-socket.ts";
import { createDeadlines, type Deadlines, runMachine } from "../machine.ts";
import { connectAdmin, drainRequestMs, type EnvoyAdmin, isAnswer } from "./admin.ts";
import {
  begin,
  type DrainAction,
  type DrainDeadline,
  type DrainEvent,
  type DrainRequest,
  type DrainState,
  step,
} from "./core/drain.ts";
import { describeOutcome } from "./core/drain-outcome.ts";
import type { InFlight } from "./core/in-flight.ts";
import { boundListenersPath } from "./core/stats.ts";
import { drainRequests } from "./drain-requests.ts";

interface DrainOptions {
  /** The ms of the whole drain, as planned. */
  readonly drainMs: number;
  /** The ms that are left of them, within which the drain ends. */
  readonly boundMs: number;
  /**
   * The ms for which connections are accepted at least: meanwhile the pod's address leaves the endpoints. As long as
   * `drainMs`: what is left then is the app's to end.
   */
  readonly minMs: number;
  /** The most requests and connections in flight with which an Envoy counts as drained. */
  readonly maxInFlight: number;
  /** Whether the sidecars have been up: if a connection is refused, they are gone. */
  readonly wereReady: boolean;
  readonly log: Log;
  /** Ends the drain early if it is aborted. */
  readonly signal: AbortSignal;
  /** Called after each count. */
  readonly onProgress?: (sidecar: Sidecar["name"], inFlight: InFlight) => void;
  /** Called with each answer of a sidecar's. */
  readonly onAnswer?: (sidecar: Sidecar["name"]) => void;
}

/**
 * Drains the Envoys among the sidecars, all at once. Without any it waits for `minMs`. Resolves with whether nothing is
 * left in flight, and logs the outcome of each. Never rejects: a bug in ebb is logged, and counts as not drained.
 */
export async function drainAll(sidecars: readonly Sidecar[], options: DrainOptions): Promise<boolean> {
  const drains: Promise<boolean>[] = [];
  for (const sidecar of sidecars) {
    const { name, isNative, envoy } = locateAdmin(sidecar);
    if (envoy !== undefined) drains.push(drainSafely({ name, isNative, envoy }, options));
  }
  const { minMs, drainMs, log } = options;
  if (minMs > drainMs) {
    const fitsMs = drains.length === 0 ? drainMs : fitMinimum(minMs, drainMs);
    log.warn({ minDrainMs: minMs, atMostMs: drainMs, fitsMs }, "--min-drain does not fit into the drain: shortened it");
  }
  if (drains.length === 0) await keepAccepting(options);
  return !(await Promise.all(drains)).includes(false);
}

type Drained = Pick<Sidecar, "name" | "isNative"> & { readonly envoy: NonNullable<Sidecar["envoy"]> };

/** Drains one sidecar. A bug is logged, and does not affect the others. */
async function drainSafely(drained: Drained, options: DrainOptions): Promise<boolean> {
  try {
    return await drainOne(drained, options);
  } catch (error) {
    const reason = error instanceof Error ? error.stack : String(error);
    const bug = { what: "the drain failed", error: reason, sidecar: drained.name };
    options.log.error(bug, "a bug in ebb: please report it");
    return false;
  }
}

async function drainOne({ name, isNative, envoy }: Drained, options: DrainOptions): Promise<boolean> {
  const { drainMs, boundMs, minMs, maxInFlight, wereReady, log, signal, onProgress } = options;
  const start = performance.now();
  const fitsMs = fitMinimum(minMs, boundMs);
  const policy = { boundMs, minMs: fitsMs, maxInFlight, isListenersFirst: isNative, wasUp: wereReady };
  const queue = createQueue<DrainEvent>();
  const over = new AbortController();
  onAbort(signal, over.signal, () => queue.push({ kind: "cut" }));
  using admin = connectAdmin(envoy, over.signal, drainRequestMs(drainMs));
  const stopsAtOnce = !isNative && name !== "custom" && kindOf(name).stopsAtOnce === true;
  using presence = stopsAtOnce ? watchPresence(admin) : undefined;
  const send = drainRequests({ sidecar: name, envoy, admin, log, onProgress });
  const ask = async (request: DrainRequest): Promise<DrainEvent> => {
    const event = await send(request);
    if (event.kind !== "failed") options.onAnswer?.(name);
    return event;
  };
  const deadlines = createDeadlines<DrainDeadline>((of) => queue.push({ kind: "deadline", of }));
  const effects = { sidecar: name, ask, queue, deadlines, boundMs, over: over.signal, log };
  const { outcome } = await runMachine<DrainState, DrainEvent, DrainAction>(
    {
      begin: () => begin(policy),
      step: (state, event) => step(state, event, policy),
      perform: (action) => perform(action, effects),
    },
    queue,
  );
  over.abort();
  deadlines.disarmAll();
  const ways = { wasHeld: presence?.wasSeen() === true, leavesRest: minMs === drainMs };
  const { ok, isDoubtful, text } = describeOutcome(outcome, ways);
  const report = { sidecar: name, outcome: text, tookMs: toTenths(performance.now() - start) };
  if (ok && isDoubtful) log.warn(report, "drain ended");
  else if (ok || signal.aborted) log.info(report, "drain ended");
  else log.warn(report, "could not drain the sidecar");
  return ok;
}

const LOOK_MS = 1000;

/** Looks each second whether Envoy still answers. `wasSeen` reports whether it did a second after the start, or later. */
function watchPresence(admin: EnvoyAdmin): Disposable & { readonly wasSeen: () => boolean } {
  let isSeen = false;
  const look = async (): Promise<void> => {
    isSeen ||= isAnswer(await admin.get(boundListenersPath));
  };
  // a look that the drain's end aborts rejects
  const timer = setInterval(() => void look().catch(() => undefined), LOOK_MS);
  return { wasSeen: () => isSeen, [Symbol.dispose]: () => clearInterval(timer) };
}

interface Effects {
  readonly ask: (request: DrainRequest) => Promise<DrainEvent>;
  readonly queue: Queue<DrainEvent>;
  readonly deadlines: Deadlines<DrainDeadline>;
  readonly boundMs: number;
  /** Is aborted at the end, and ends the requests. */
  readonly over: AbortSignal;
  readonly sidecar: Sidecar["name"];
  readonly log: Log;
}

function perform(action: DrainAction, effects: Effects): void {
  const { sidecar, deadlines, boundMs, log } = effects;
  switch (action.kind) {
    case "ask":
      return askFor(action.request, effects);
    case "arm":
      return deadlines.arm(action.deadline, action.ms);
    case "sit-out":
      return log.warn({ sidecar, atMostMs: boundMs }, "cannot count the work in flight: draining for the full time");
    case "end":
      return;
  }
}

function askFor(request: DrainRequest, { sidecar, ask, queue, over, log }: Effects): void {
  ask(request).then(queue.push, (error: unknown) => {
    if (over.aborted) return;
    // a bug: it must not cost the app its end and its exit code
    const stack = error instanceof Error ? error.stack : String(error);
    log.error(
      { what: "a step of the drain failed", error: stack, sidecar, step: request },
      "a bug in ebb: please report it",
    );
    queue.push({ kind: "failed", request, isRefused: false });
  });
}

/** Calls `call` once: when `signal` is aborted, or at once if it is already. Does not once `end` is aborted. */
function onAbort(signal: AbortSignal, end: AbortSignal, call: () => void): void {
  if (signal.aborted) call();
  else signal.addEventListener("abort", call, { once: true, signal: end });
}

function keepAccepting({ boundMs, minMs, log, signal }: DrainOptions): Promise<void> {
  const forMs = Math.min(minMs, boundMs);
  log.info({ forMs }, "no Envoy to drain: still accepting connections while the pod leaves the endpoints");
  const { promise, resolve } = Promise.withResolvers<void>();
  const over = new AbortController();
  onAbort(signal, over.signal, resolve);
  const cancel = deadline(forMs, resolve);
  return promise.finally(() => {
    over.abort();
    cancel();
  });
}
