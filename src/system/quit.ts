import type { Address } from "../core/address.ts";
import { toTenths } from "../core/duration.ts";
import type { Header, HttpAnswer } from "../core/http-message.ts";
import { judge, type Probe } from "../core/probe.ts";
import { describeQuit, type QuitRequest, quitRefusal, quitUnreachable, type Sidecar } from "../core/sidecar.ts";
import { locate } from "./admin-socket.ts";
import { createHttpClient, REFUSED, tryConnect } from "./http.ts";
import { endProcesses } from "./processes.ts";
import { RequestFailed } from "./request-failed.ts";

export interface QuitOptions {
  /** For each quit: until it was answered and the sidecar is gone. */
  readonly timeoutMs: number;
  readonly headers: readonly Header[];
  /** Whether the sidecars have been up: where nobody listens any more, they are gone, not late. */
  readonly wereReady: boolean;
}

/** What became of one quit. `ok`: the sidecar took it, and is gone where that can be seen, or leaves by itself. */
export interface QuitReport {
  readonly sidecar: Sidecar["name"];
  readonly request: string;
  readonly ok: boolean;
  readonly outcome: string;
  readonly status?: number;
  readonly tookMs: number;
}

/** Tells all sidecars to quit, at the same time, and watches that they go. Never rejects, never takes longer than the timeout. */
export async function quitAll(sidecars: readonly Sidecar[], options: QuitOptions): Promise<readonly QuitReport[]> {
  const quits: Promise<readonly QuitReport[]>[] = [];
  for (const sidecar of sidecars) {
    for (const quit of locate(sidecar).quits) quits.push(quitOne(sidecar, quit, options));
    for (const name of sidecar.processes) quits.push(signalAll(sidecar, name, options));
  }
  const reports: QuitReport[] = [];
  for (const quit of await Promise.all(quits)) reports.push(...quit);
  return reports;
}

interface Outcome {
  readonly ok: boolean;
  readonly outcome: string;
  readonly status?: number;
}

async function quitOne(sidecar: Sidecar, quit: QuitRequest, options: QuitOptions): Promise<readonly QuitReport[]> {
  const start = performance.now();
  const ended = await outcomeOf(sidecar, quit, options);
  return [{ sidecar: sidecar.name, request: describeQuit(quit), ...ended, tookMs: since(start) }];
}

async function signalAll({ name }: Sidecar, executable: string, options: QuitOptions): Promise<readonly QuitReport[]> {
  const start = performance.now();
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

async function outcomeOf(sidecar: Sidecar, quit: QuitRequest, options: QuitOptions): Promise<Outcome> {
  const signal = AbortSignal.timeout(options.timeoutMs);
  const last: Last = {};
  try {
    const answer = await ask(quit, options, { signal, last });
    const { status } = answer;
    const refusal = quitRefusal(sidecar.name, answer);
    if (refusal !== undefined) return { ok: false, outcome: refusal, status };
    if (sidecar.name === "custom") return { ok: true, outcome: "answered", status };
    if (await watchItGo(quit, signal)) return { ok: true, outcome: "gone", status };
    return sidecar.leaves === undefined
      ? { ok: false, outcome: "answered, but still there", status }
      : { ok: true, outcome: `answered, still draining: it leaves by itself ${sidecar.leaves}`, status };
  } catch (error) {
    const failure = signal.aborted ? failureOf(last) : error;
    if (failure === undefined) return { ok: false, outcome: "no answer in time" };
    if (!(failure instanceof RequestFailed)) throw failure;
    if (failure.kind !== "refused") return { ok: false, outcome: failure.message };
    return await refused(sidecar, quit, { signal, wereReady: options.wereReady });
  }
}

/**
 * Nobody listens where the quit goes. Beside a sidecar that was ready before, its readiness endpoint tells more: closed too, it
 * is gone; no longer ready, it is leaving (pilot-agent closes its quit port first: istio, status/server.go); ready, its quit
 * is switched off or elsewhere.
 */
async function refused(sidecar: Sidecar, quit: QuitRequest, { signal, wereReady }: Refused): Promise<Outcome> {
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
  const [probe] = ready;
  if (ready.some((probe) => isAt(probe, quit.target.address))) return "gone";
  if (probe?.kind !== "http") return "unknown";
  using client = createHttpClient();
  try {
    const request = { method: "GET", target: probe.target, headers: [] };
    return judge(await client.request(request, signal)).ready ? "ready" : "leaving";
  } catch (error) {
    return error instanceof RequestFailed && error.kind === "refused" ? "gone" : "unknown";
  }
}

function isAt(probe: Probe, address: Address): boolean {
  if (probe.kind === "file") return false;
  const own = probe.kind === "http" ? probe.target.address : probe.address;
  if (own.kind === "unix" || address.kind === "unix") return Bun.deepEquals(own, address);
  return own.port === address.port;
}

class ServerError extends Error {
  readonly answer: HttpAnswer;

  constructor(answer: HttpAnswer) {
    super(`HTTP ${answer.status}`);
    this.answer = answer;
  }
}

/** What the last attempts came to. */
interface Last {
  answer?: HttpAnswer;
  failure?: RequestFailed;
  startedAt?: number;
}

const SHORT_MS = 100;

/** Why there was no answer when time was up; an attempt that was just under way would have ended as the one before. */
function failureOf({ failure, startedAt = 0 }: Last): RequestFailed | undefined {
  return performance.now() - startedAt < SHORT_MS ? failure : undefined;
}

interface Asking {
  readonly signal: AbortSignal;
  readonly last: Last;
}

/** The answer; a connection that fails, and a server that says 5xx, is asked again until time is up. */
async function ask(quit: QuitRequest, options: QuitOptions, { signal, last }: Asking): Promise<HttpAnswer> {
  using client = createHttpClient();
  const request = { ...quit, headers: headersOf(quit, options.headers) };
  const attempt = async (): Promise<HttpAnswer> => {
    last.startedAt = performance.now();
    const answer = await client.request(request, signal);
    if (answer.status < 500) return answer;
    last.answer = answer;
    throw new ServerError(answer);
  };
  try {
    return await attempt();
  } catch (error) {
    if (!isPassing(error, last)) throw error;
  }
  try {
    const { default: pRetry } = await import("p-retry"); // few quits need it
    return await pRetry(attempt, {
      retries: Number.POSITIVE_INFINITY,
      minTimeout: 10,
      maxTimeout: 250,
      factor: 1.5,
      randomize: false,
      signal,
      shouldRetry: ({ error, attemptNumber }) =>
        isPassing(error, last) && (!isGone(error, options) || attemptNumber < 2),
    });
  } catch (error) {
    if (last.answer !== undefined && signal.aborted) return last.answer;
    throw error;
  }
}

/** The user's, and the quit's own where the user has none of that name. */
function headersOf({ headers: own = [] }: QuitRequest, given: readonly Header[]): readonly Header[] {
  const names = new Set(given.map(([name]) => name.toLowerCase()));
  return [...given, ...own.filter(([name]) => !names.has(name.toLowerCase()))];
}

/** Whether another attempt may fare better. */
function isPassing(error: unknown, last: Last): boolean {
  if (error instanceof RequestFailed) last.failure = error;
  return error instanceof RequestFailed || error instanceof ServerError;
}

/** Nobody listens where somebody did: three tries are enough to be sure. */
function isGone(error: Error, { wereReady }: QuitOptions): boolean {
  return wereReady && error instanceof RequestFailed && error.kind === "refused";
}

/** True once nobody accepts connections there any more, false when time is up first. */
async function watchItGo({ target }: QuitRequest, signal: AbortSignal): Promise<boolean> {
  for (let waitMs = 1; !signal.aborted; waitMs = Math.min(waitMs * 1.2, 25)) {
    try {
      await tryConnect(target.address, signal);
    } catch (error) {
      if (error instanceof RequestFailed) return true;
    }
    await Bun.sleep(waitMs);
  }
  return false;
}
