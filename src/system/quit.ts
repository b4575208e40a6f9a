import { toTenths } from "../core/duration.ts";
import type { Header, HttpAnswer } from "../core/http-message.ts";
import { describeQuit, type QuitRequest, quitRefusal, type Sidecar } from "../core/sidecar.ts";
import { createHttpClient, tryConnect } from "./http.ts";
import { RequestFailed } from "./request-failed.ts";

export interface QuitOptions {
  /** For each quit: until it was answered and the sidecar is gone. */
  readonly timeoutMs: number;
  readonly headers: readonly Header[];
  /** Whether the sidecars have been up: where nobody listens any more, they are gone, not late. */
  readonly wereReady: boolean;
}

/** What became of one quit. `ok`: the sidecar took it, and is gone where that can be seen. */
export interface QuitReport {
  readonly sidecar: Sidecar["name"];
  readonly request: string;
  readonly ok: boolean;
  readonly outcome: string;
  readonly status?: number;
  readonly tookMs: number;
}

/** Tells all sidecars to quit, at the same time, and watches that they go. Never rejects, never takes longer than the timeout. */
export function quitAll(sidecars: readonly Sidecar[], options: QuitOptions): Promise<readonly QuitReport[]> {
  const reports: Promise<QuitReport>[] = [];
  for (const { name, quits } of sidecars) for (const quit of quits) reports.push(quitOne(name, quit, options));
  return Promise.all(reports);
}

async function quitOne(sidecar: Sidecar["name"], quit: QuitRequest, options: QuitOptions): Promise<QuitReport> {
  const start = performance.now();
  const ended = (ok: boolean, outcome: string, status?: number): QuitReport => {
    const tookMs = toTenths(performance.now() - start);
    return {
      sidecar,
      request: describeQuit(quit),
      ok,
      outcome,
      ...(status === undefined ? {} : { status }),
      tookMs,
    };
  };
  const signal = AbortSignal.timeout(options.timeoutMs);
  try {
    const answer = await ask(quit, options, signal);
    const refusal = quitRefusal(sidecar, answer);
    if (refusal !== undefined) return ended(false, refusal, answer.status);
    if (sidecar === "custom") return ended(true, "answered", answer.status);
    const isGone = await watchItGo(quit, signal);
    return isGone ? ended(true, "gone", answer.status) : ended(false, "answered, but still there", answer.status);
  } catch (error) {
    if (signal.aborted) return ended(false, "no answer in time");
    if (!(error instanceof RequestFailed)) throw error;
    if (error.kind === "refused" && options.wereReady) return ended(true, "gone already");
    return ended(false, error.message);
  }
}

class ServerError extends Error {
  readonly answer: HttpAnswer;

  constructor(answer: HttpAnswer) {
    super(`HTTP ${answer.status}`);
    this.answer = answer;
  }
}

/** The answer; a connection that fails, and a server that says 5xx, is asked again until time is up. */
async function ask(quit: QuitRequest, options: QuitOptions, signal: AbortSignal): Promise<HttpAnswer> {
  using client = createHttpClient();
  let last: HttpAnswer | undefined;
  const attempt = async (): Promise<HttpAnswer> => {
    const answer = await client.request({ ...quit, headers: options.headers }, signal);
    if (answer.status < 500) return answer;
    last = answer;
    throw new ServerError(answer);
  };
  try {
    return await attempt();
  } catch (error) {
    if (!(error instanceof RequestFailed || error instanceof ServerError)) throw error;
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
      shouldRetry: ({ error, attemptNumber }) => !isGone(error, options) || attemptNumber < 2,
    });
  } catch (error) {
    if (last !== undefined && signal.aborted) return last;
    throw error;
  }
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
