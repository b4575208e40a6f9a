import { toTenths } from "../../shared/core/duration.ts";
import { deadline, leftUntil } from "../../shared/io/timer.ts";
import type { Log } from "../../shared/output/log.ts";
import type { Sidecar } from "../../shared/sidecars/core/sidecar.ts";
import { locateAdmin } from "../find/admin-socket.ts";
import { type QuitOutcome, type QuitReport, type SendOptions, sendQuit } from "./send-quit.ts";

/** `timeoutMs` is the time for each quit. */
interface QuitOptions extends SendOptions {
  /** The time for all of them; by default twice `timeoutMs`. */
  readonly withinMs?: number;
}

/**
 * Tells all sidecars to quit at the same time, and watches each until it is gone. Requests that the user gave with `+`
 * go first: the others follow once those were answered or have failed once, or half of their time is over. Resolves with
 * a report for each request and each process that was signalled. Never rejects: a failure, also a bug in ebb, is a report.
 */
export async function quitAll(sidecars: readonly Sidecar[], options: QuitOptions): Promise<readonly QuitReport[]> {
  const { timeoutMs, withinMs = 2 * timeoutMs } = options;
  const until = performance.now() + withinMs;
  const ends: Promise<readonly QuitReport[]>[] = [];
  const first: Promise<void>[] = [];
  const limits = { ...options, timeoutMs: Math.min(timeoutMs, withinMs) };
  for (const sidecar of sidecars) {
    for (const request of sidecar.quits) {
      if (request.isAdditional !== true) continue;
      const { promise, resolve } = Promise.withResolvers<void>();
      first.push(promise);
      const end = async () => [(await sendQuit(sidecar, request, limits, resolve)).report];
      ends.push(guarded(sidecar, end).finally(resolve));
    }
  }
  if (first.length > 0) await within(limits.timeoutMs / 2, Promise.all(first));
  const others = { ...options, timeoutMs: Math.min(timeoutMs, leftUntil(until)) };
  for (const sidecar of sidecars) ends.push(guarded(sidecar, () => endOne(sidecar, others)));
  return gather(await Promise.all(ends));
}

/** Logs the outcome of a quit: at info if it is ok, else, because the sidecar may still run, at the level `failed`. */
export function logQuit(log: Log, failed: "warn" | "error", { ok, isAbsent, error, ...report }: QuitReport): void {
  if (isAbsent === true) log.info(report, "the sidecar is gone, or was never here");
  else if (ok) log.info(report, "asked the sidecar to exit");
  else log[failed]({ ...report, error }, "could not shut down the sidecar");
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
  for (const request of sidecar.quits)
    if (request.isAdditional !== true) quits.push(sendQuit(sidecar, request, options));
  for (const name of sidecar.processes) signals.push(signalAll(sidecar, name, options.timeoutMs));
  const reports: QuitReport[] = [];
  let isTaken = false;
  for (const quit of await Promise.all(quits)) {
    reports.push(quit.report);
    isTaken ||= quit.isTaken;
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
