import { toTenths } from "../../shared/core/duration.ts";
import { RequestFailed } from "../../shared/http/request-failed.ts";
import { createQueue } from "../../shared/io/queue.ts";
import { deadline, leftUntil } from "../../shared/io/timer.ts";
import type { Log } from "../../shared/output/log.ts";
import { describeQuit } from "../../shared/sidecars/core/quit.ts";
import type { Sidecar } from "../../shared/sidecars/core/sidecar.ts";
import { locateAdmin } from "../find/admin-socket.ts";
import { runMachine } from "../machine.ts";
import {
  begin,
  type QuitAction,
  type QuitEvent,
  type QuitMachinePolicy,
  type QuitState,
  type Result,
  step,
} from "./core/quitting.ts";
import {
  askServer,
  headersOf,
  lifeOf,
  type Quit,
  type QuitOptions,
  type QuitReport,
  type Quitting,
  watchItGo,
} from "./quit-watch.ts";

/**
 * Tells all sidecars to quit at the same time, and watches each until it is gone. Requests that the user gave with `+`
 * go first: the others follow once those were answered or have failed once, or half of `withinMs` is over. Resolves
 * with a report for each request and each process that was signalled. Never rejects: a failure, also a bug in ebb, is a
 * report.
 */
export async function quitAll(sidecars: readonly Sidecar[], options: QuitOptions): Promise<readonly QuitReport[]> {
  const { timeoutMs, withinMs = 2 * timeoutMs } = options;
  const until = performance.now() + withinMs;
  const ends: Promise<readonly QuitReport[]>[] = [];
  const first: Promise<void>[] = [];
  for (const sidecar of sidecars) {
    for (const quit of sidecar.quits) {
      if (quit.isAdditional !== true) continue;
      const { promise, resolve } = Promise.withResolvers<void>();
      first.push(promise);
      const limits = { ...options, timeoutMs: Math.min(timeoutMs, withinMs) };
      const end = async () => [(await quitOne({ sidecar, quit, onArrived: resolve }, limits)).report];
      ends.push(guarded(sidecar, end).finally(resolve));
    }
  }
  if (first.length > 0) await within(withinMs / 2, Promise.all(first));
  const limits = { ...options, timeoutMs: Math.min(timeoutMs, leftUntil(until)) };
  for (const sidecar of sidecars) ends.push(guarded(sidecar, () => endOne(sidecar, limits)));
  return gather(await Promise.all(ends));
}

/** Logs the outcome of a quit: at info if it is ok, else, because the sidecar may still run, at the level `failed`. */
export function logQuit(log: Log, failed: "warn" | "error", { ok, error, ...report }: QuitReport): void {
  if (ok) log.info(report, "told the sidecar to quit");
  else log[failed]({ ...report, error }, "could not make the sidecar quit");
}

function within(ms: number, done: Promise<unknown>): Promise<unknown> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const cancel = deadline(ms, resolve);
  return Promise.race([done, promise]).finally(cancel);
}

function gather<T>(lists: readonly (readonly T[])[]): readonly T[] {
  const all: T[] = [];
  for (const list of lists) all.push(...list);
  return all;
}

async function guarded({ name }: Sidecar, end: () => Promise<readonly QuitReport[]>): Promise<readonly QuitReport[]> {
  const start = performance.now();
  try {
    return await end();
  } catch (error) {
    const outcome = "a bug in ebb, please report it";
    const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return [{ sidecar: name, request: "quit", ok: false, outcome, error: stack, tookMs: since(start) }];
  }
}

/**
 * Sends a sidecar's quits and signals its processes. Those of `lastResort` get a signal only if no quit was taken: a
 * sidecar that is draining is left alone.
 */
async function endOne(found: Sidecar, options: QuitOptions): Promise<readonly QuitReport[]> {
  const sidecar = locateAdmin(found);
  const until = performance.now() + options.timeoutMs;
  const quits: Promise<QuitOutcome>[] = [];
  const signals: Promise<readonly QuitReport[]>[] = [];
  for (const quit of sidecar.quits) if (quit.isAdditional !== true) quits.push(quitOne({ sidecar, quit }, options));
  for (const name of sidecar.processes) signals.push(signalAll(sidecar, name, options.timeoutMs));
  const reports: QuitReport[] = [];
  let isTaken = false;
  for (const told of await Promise.all(quits)) {
    reports.push(told.report);
    isTaken ||= told.isTaken;
  }
  reports.push(...gather(await Promise.all(signals)));
  if (!isTaken)
    for (const name of sidecar.lastResort ?? []) reports.push(...(await signalAll(sidecar, name, leftUntil(until))));
  return reports;
}

async function signalAll({ name }: Sidecar, executable: string, timeoutMs: number): Promise<readonly QuitReport[]> {
  const start = performance.now();
  const { endProcesses } = await import("../process/end-processes.ts"); // few quits need it
  const ends = await endProcesses(executable, timeoutMs);
  return ends.map(({ pid, isGone, outcome }) => ({
    sidecar: name,
    request: pid === undefined ? `signal ${executable}` : `signal ${executable} (pid ${pid})`,
    ok: isGone,
    outcome,
    tookMs: since(start),
  }));
}

function since(start: number): number {
  return toTenths(performance.now() - start);
}

interface QuitOutcome {
  readonly report: QuitReport;
  /** Whether the sidecar took the quit or was gone before, so that nothing more is to be done. */
  readonly isTaken: boolean;
}

async function quitOne(one: Quit, options: QuitOptions): Promise<QuitOutcome> {
  const { sidecar, quit } = one;
  const start = performance.now();
  const controller = new AbortController();
  const queue = createQueue<QuitEvent>();
  const attempt = { asked: quit, acceptedAt: undefined, since: start };
  const quitting: Quitting = { ...one, ...attempt, options, queue, over: controller.signal };
  const policy = policyOf(one, options);
  const askedMs = () => performance.now() - quitting.since;
  const cancelBound = deadline(options.timeoutMs, () => queue.push({ kind: "bound", askedMs: askedMs() }));
  const cancelHalf = deadline(options.timeoutMs / 2, () => queue.push({ kind: "half" }));
  try {
    const machine = {
      begin,
      step(state: QuitState, event: QuitEvent) {
        one.onArrived?.();
        return step(state, event, policy);
      },
      perform: (action: QuitAction) => perform(action, quitting),
    };
    const { result } = await runMachine(machine, queue);
    return toldOf(result, { sidecar: sidecar.name, request: describeQuit(quitting.asked), tookMs: since(start) });
  } finally {
    cancelBound();
    cancelHalf();
    controller.abort();
  }
}

function toldOf(
  { isTaken, ...result }: Result,
  report: Pick<QuitReport, "sidecar" | "request" | "tookMs">,
): QuitOutcome {
  const { tookMs, ...named } = report;
  return { report: { ...named, ...result, tookMs }, isTaken };
}

function policyOf({ sidecar, quit }: Quit, { wereReady }: QuitOptions): QuitMachinePolicy {
  return {
    name: sidecar.name,
    exitsWhen: sidecar.exitsWhen,
    fallbackExitsWhen: quit.fallback?.exitsWhen,
    closesFirst: sidecar.closesFirst === true,
    hasFallback: quit.fallback !== undefined,
    mustNotRepeat: quit.mustNotRepeat === true,
    wasReady: wereReady,
    hasLastResort: sidecar.lastResort !== undefined,
  };
}

function perform(action: QuitAction, quitting: Quitting): void {
  switch (action.kind) {
    case "ask":
      return ask(quitting, action.isElsewhere);
    case "rest":
      setTimeout(() => quitting.queue.push({ kind: "rested" }), action.ms);
      return;
    case "look":
      return follow(quitting, async () => ({ kind: "looked", life: await lifeOf(quitting) }));
    case "watch":
      return follow(quitting, async () => ((await watchItGo(quitting)) ? { kind: "gone" } : undefined));
    case "search":
      return follow(quitting, () => search(quitting));
  }
}

/** Starts an action, and queues its result as an event. A bug ends the quit. */
function follow({ queue, over }: Quitting, act: () => Promise<QuitEvent | undefined>): void {
  act().then(
    (event) => event !== undefined && queue.push(event),
    (error: unknown) => over.aborted || queue.fail(error),
  );
}

function ask(quitting: Quitting, isElsewhere: boolean): void {
  const { sidecar, quit, options, over } = quitting;
  const place = isElsewhere && quit.fallback !== undefined ? { ...quit, target: quit.fallback.target } : quit;
  // each attempt looks for the socket, which may come later than the quit
  const asked = sidecar.socket?.quitPath === undefined ? place : (locateAdmin(sidecar).quits[0] ?? place);
  quitting.asked = asked;
  quitting.acceptedAt = undefined;
  quitting.since = performance.now();
  const { method, target } = asked;
  const headers = headersOf(asked, options.headers);
  const { address } = target;
  const onConnect = (host: string): void => {
    if (address.kind === "tcp") quitting.acceptedAt = { ...address, host };
  };
  follow(quitting, async () => {
    try {
      const { status } = await (options.ask ?? askServer)({ method, target, headers }, over, onConnect);
      return { kind: "answered", status };
    } catch (error) {
      if (error instanceof RequestFailed) return { kind: "failed", why: error.kind, message: error.message };
      throw error;
    }
  });
}

async function search({ sidecar, since }: Quitting): Promise<QuitEvent> {
  const { isAnyRunning } = await import("../process/end-processes.ts");
  return { kind: "searched", isFound: isAnyRunning(sidecar.lastResort ?? []), askedMs: performance.now() - since };
}
