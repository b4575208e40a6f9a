import { judge, type Probe, pollPeriodMs, type Verdict } from "../core/probe.ts";
import { createHttpClient, type HttpClient, tryConnect } from "./http.ts";
import { RequestFailed } from "./request-failed.ts";

const MAX_IN_FLIGHT = 8;
const ATTEMPT_LIFE_MS = 5000;

interface Attempt {
  readonly since: number;
  readonly controller: AbortController;
}

/**
 * Resolves as soon as the probe says ready; rejects with the signal's reason when it is aborted. A new attempt starts each
 * period whether or not the last was answered, so that one that hangs delays nothing; of more than eight at a time the
 * newest makes room, so that a slow server is still heard.
 */
export function whenReady(probe: Probe, signal: AbortSignal, onNotReady: (reason: string) => void): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const client = createHttpClient();
  const start = performance.now();
  const attempts: Attempt[] = [];
  let timer: Timer | undefined;

  const launch = (): void => {
    const now = performance.now();
    timer = setTimeout(launch, pollPeriodMs(now - start));
    retire(attempts, now, onNotReady);
    const attempt = { since: now, controller: new AbortController() };
    attempts.push(attempt);
    tryOnce(probe, client, attempt.controller.signal).then((verdict) => {
      const place = attempts.indexOf(attempt);
      if (place < 0) return; // retired: its answer no longer counts
      attempts.splice(place, 1);
      if (verdict.ready) resolve();
      else onNotReady(verdict.reason);
    }, reject);
  };

  const onAbort = () => reject(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  launch();
  return promise.finally(() => {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
    for (const { controller } of attempts.splice(0)) controller.abort();
    client[Symbol.dispose]();
  });
}

/** Ends the attempts that are too old, and the newest where there are too many. */
function retire(attempts: Attempt[], now: number, onNotReady: (reason: string) => void): void {
  const [oldest] = attempts;
  if (oldest !== undefined && now - oldest.since >= ATTEMPT_LIFE_MS) attempts.shift()?.controller.abort();
  if (attempts.length >= MAX_IN_FLIGHT) {
    attempts.pop()?.controller.abort();
    onNotReady("no answer");
  }
}

async function tryOnce(probe: Probe, client: HttpClient, signal: AbortSignal): Promise<Verdict> {
  try {
    switch (probe.kind) {
      case "http":
        return judge(await client.request({ method: "GET", target: probe.target, headers: [] }, signal));
      case "connect":
        await tryConnect(probe.address, signal);
        return { ready: true };
      case "file":
        return (await import("node:fs")).existsSync(probe.path)
          ? { ready: true }
          : { ready: false, reason: "no such file" };
    }
  } catch (error) {
    if (signal.aborted) return { ready: false, reason: "no answer" };
    if (error instanceof RequestFailed) return { ready: false, reason: error.message };
    throw error;
  }
}
