import { type Address, isLoopback } from "../core/address.ts";
import { toTenths } from "../core/duration.ts";
import type { HttpAnswer } from "../core/http-message.ts";
import { judgeOf, type Probe } from "../core/probe.ts";
import type { Otherwise } from "../core/sidecars/kind.ts";
import { describeQuit, quitRefusal, quitUnreachable } from "../core/sidecars/quit.ts";
import type { QuitRequest, Sidecar } from "../core/sidecars/sidecar.ts";
import { locate } from "./admin-socket.ts";
import { acceptsConnections, doorAt } from "./door.ts";
import { REFUSED, tryConnect } from "./http.ts";
import { clientFor } from "./prober.ts";
import { type QuitOptions, sendQuit } from "./quit-request.ts";
import { probeOnce } from "./ready.ts";
import { RequestFailed } from "./request-failed.ts";
import { abortedAfter, leftUntil } from "./timer.ts";

/** What became of one quit. `ok`: the sidecar took it, and is gone where that can be seen, or leaves by itself. */
export interface QuitReport {
  readonly sidecar: Sidecar["name"];
  readonly request: string;
  readonly ok: boolean;
  readonly outcome: string;
  readonly status?: number;
  readonly tookMs: number;
}

/**
 * Tells all sidecars to quit, at the same time, and watches that they go. What is asked before them has half of the time, and
 * so have the quits before a last resort. Never rejects, never takes longer than the timeout.
 */
export async function quitAll(sidecars: readonly Sidecar[], options: QuitOptions): Promise<readonly QuitReport[]> {
  const until = performance.now() + options.timeoutMs;
  const first: Quit[] = [];
  const then: Sidecar[] = [];
  for (const found of sidecars) {
    const sidecar = locate(found);
    const quits: QuitRequest[] = [];
    for (const quit of sidecar.quits) {
      if (quit.isMore === true) first.push({ sidecar, quit });
      else quits.push(quit);
    }
    if (quits.length + sidecar.processes.length + (sidecar.lastResort?.length ?? 0) > 0)
      then.push({ ...sidecar, quits });
  }
  const reports: QuitReport[] = [];
  if (first.length > 0) {
    const timeoutMs = then.length > 0 ? options.timeoutMs / 2 : options.timeoutMs;
    reports.push(...(await gather(first.map((quit) => quitOne(quit, { ...options, timeoutMs })))));
  }
  const ends: Promise<readonly QuitReport[]>[] = [];
  for (const sidecar of then) ends.push(endOne(sidecar, { ...options, timeoutMs: leftUntil(until) }));
  reports.push(...(await gather(ends)));
  return reports;
}

async function gather(ends: readonly Promise<readonly QuitReport[]>[]): Promise<readonly QuitReport[]> {
  const reports: QuitReport[] = [];
  for (const ended of await Promise.all(ends)) reports.push(...ended);
  return reports;
}

interface Quit {
  readonly sidecar: Sidecar;
  readonly quit: QuitRequest;
}

async function endOne(sidecar: Sidecar, options: QuitOptions): Promise<readonly QuitReport[]> {
  if (sidecar.lastResort === undefined) return await tellOne(sidecar, options);
  const until = performance.now() + options.timeoutMs;
  const reports = await tellOne(sidecar, { ...options, timeoutMs: options.timeoutMs / 2 });
  if (reports.length > 0 && reports.every(({ ok }) => ok)) return reports;
  const rest = { ...options, timeoutMs: leftUntil(until) };
  return [...reports, ...(await gather(sidecar.lastResort.map((name) => signalAll(sidecar, name, rest))))];
}

async function tellOne(sidecar: Sidecar, options: QuitOptions): Promise<readonly QuitReport[]> {
  const quits: Promise<readonly QuitReport[]>[] = [];
  for (const quit of sidecar.quits) quits.push(quitOne({ sidecar, quit }, options));
  for (const name of sidecar.processes) quits.push(signalAll(sidecar, name, options));
  return await gather(quits);
}

interface Ended {
  readonly ok: boolean;
  readonly outcome: string;
  readonly status?: number;
}

interface Outcome extends Ended {
  readonly request: string;
}

async function quitOne({ sidecar, quit }: Quit, options: QuitOptions): Promise<readonly QuitReport[]> {
  const start = performance.now();
  const ended = await outcomeOf(sidecar, quit, options);
  return [{ sidecar: sidecar.name, ...ended, tookMs: since(start) }];
}

async function signalAll({ name }: Sidecar, executable: string, options: QuitOptions): Promise<readonly QuitReport[]> {
  const start = performance.now();
  const { endProcesses } = await import("./end-processes.ts"); // few quits need it
  const ends = await endProcesses(executable, options.timeoutMs);
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

async function outcomeOf(found: Sidecar, quit: QuitRequest, options: QuitOptions): Promise<Outcome> {
  const signal = abortedAfter(options.timeoutMs);
  // a socket may come later than the quit: each attempt looks for it
  const again = found.socket?.quitPath === undefined ? undefined : () => locate(found).quits[0];
  const { target, result, wasHeard } = await sendQuit(quit, { ...options, again }, signal);
  const asked = { method: quit.method, target };
  const sidecar = target === quit.otherwise?.target ? leavingAs(found, quit.otherwise) : found;
  const request = describeQuit(asked);
  if (result === undefined) return { request, ok: false, outcome: "no answer in time" };
  if (!(result instanceof RequestFailed)) return { request, ...(await answered(sidecar, asked, result, signal)) };
  if (result.kind === "refused") {
    // the first attempt was its end (pilot-agent leaves before its answer does)
    if (wasHeard) return { request, ok: true, outcome: "gone" };
    return { request, ...(await refused(sidecar, quit, { signal, wereReady: options.wereReady })) };
  }
  // it may have been heard, and must not be told again: its end tells
  if (quit.isOnce === true && (await watchItGo(asked, signal))) return { request, ok: true, outcome: "gone" };
  return { request, ok: false, outcome: result.message };
}

function leavingAs({ leaves, ...sidecar }: Sidecar, otherwise: Otherwise): Sidecar {
  return otherwise.leaves === undefined ? sidecar : { ...sidecar, leaves: otherwise.leaves };
}

async function answered(sidecar: Sidecar, quit: QuitRequest, answer: HttpAnswer, signal: AbortSignal): Promise<Ended> {
  const { status } = answer;
  const refusal = quitRefusal(sidecar.name, answer);
  if (refusal !== undefined) return { ok: false, outcome: refusal, status };
  if (sidecar.name === "custom") return { ok: true, outcome: "answered", status };
  const { leaves, closesFirst } = sidecar;
  const later = `it leaves by itself ${leaves}`;
  if (await watchItGo(quit, signal)) {
    return { ok: true, outcome: closesFirst === true ? `its port is closed: ${later}` : "gone", status };
  }
  if (leaves === undefined) return { ok: false, outcome: "answered, but still there", status };
  return { ok: true, outcome: `answered, still draining: ${later}`, status };
}

/**
 * Nobody listens where the quit goes. Beside a sidecar that was ready before, its readiness endpoint tells more: closed too, it
 * is gone; no longer ready, it is leaving (pilot-agent closes its quit port first: istio, status/server.go); ready, its quit
 * is switched off or elsewhere.
 */
async function refused(sidecar: Sidecar, quit: QuitRequest, { signal, wereReady }: Refused): Promise<Ended> {
  const meaning = quitUnreachable(sidecar.name);
  if (meaning === undefined && wereReady) return { ok: true, outcome: "gone already" };
  if (meaning === undefined) return { ok: false, outcome: REFUSED };
  const state = wereReady ? await stateOf(sidecar, quit, signal) : "unknown";
  if (state === "gone" || state === "leaving") return { ok: true, outcome: `${state} already` };
  return { ok: false, outcome: `${REFUSED}: ${meaning}` };
}

type State = "gone" | "leaving" | "ready" | "unknown";

interface Refused {
  readonly signal: AbortSignal;
  readonly wereReady: boolean;
}

async function stateOf({ ready }: Sidecar, quit: QuitRequest, signal: AbortSignal): Promise<State> {
  for (const probe of ready) if (probe.kind === "any" && (await probeOnce(probe, LOOK_MS)).ready) return "ready";
  const probes = ready.map(firstOf);
  const [probe] = probes;
  if (probes.some((probe) => isAt(probe, quit.target.address))) return "gone";
  if (probe?.kind !== "http") return "unknown";
  using client = clientFor(probe);
  try {
    const request = { method: "GET", target: probe.target, headers: [] };
    return judgeOf(probe)(await client.request(request, signal)).ready ? "ready" : "leaving";
  } catch (error) {
    return error instanceof RequestFailed && error.kind === "refused" ? "gone" : "unknown";
  }
}

/** Loopback answers at once. */
const LOOK_MS = 250;

type OneProbe = Exclude<Probe, { kind: "any" }>;

/** Its own endpoint, of those that are as good. */
function firstOf(probe: Probe): OneProbe {
  return probe.kind === "any" ? firstOf(probe.probes[0] as Probe) : probe;
}

function isAt(probe: OneProbe, address: Address): boolean {
  if (probe.kind === "file") return false;
  const own = probe.kind === "http" ? probe.target.address : probe.address;
  if (own.kind === "unix" || address.kind === "unix") return Bun.deepEquals(own, address);
  return own.port === address.port;
}

/** True once nobody accepts connections there any more, false when time is up first. */
async function watchItGo({ target }: QuitRequest, signal: AbortSignal): Promise<boolean> {
  for (let waitMs = 1; !signal.aborted; waitMs = Math.min(waitMs * 1.2, 25)) {
    if (await isGone(target.address, signal)) return true;
    await Bun.sleep(waitMs);
  }
  return false;
}

/** On loopback this is a system call, which leaves nothing behind. */
async function isGone(address: Address, signal: AbortSignal): Promise<boolean> {
  if (isLoopback(address)) return !isOpen(address);
  try {
    await tryConnect(address, signal);
  } catch (error) {
    return error instanceof RequestFailed;
  }
  return false;
}

function isOpen(address: Address): boolean {
  return address.kind === "unix" ? acceptsConnections(address.path) : doorAt(address)?.() !== "refused";
}
