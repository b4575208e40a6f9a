import { formatDuration, toTenths } from "../core/duration.ts";
import type { Environment } from "../core/option.ts";
import type { Settings } from "../core/options.ts";
import { describeProbe, type Probe } from "../core/probe.ts";
import type { Sidecar } from "../core/sidecars/sidecar.ts";
import type { Log } from "./log.ts";
import { whenReady } from "./ready.ts";
import { findSidecars, type SidecarSettings } from "./sidecars.ts";

export interface WaitOptions {
  readonly settings: SidecarSettings & Settings<"waitTimeout">;
  /** More to wait for than the sidecars. */
  readonly targets: readonly Probe[];
  /** One ready target is enough; the sidecars must all be ready. */
  readonly any?: boolean;
  /** Called with each new reason why a sidecar is not ready. */
  readonly onNotReady?: (sidecar: Sidecar, reason: string) => void;
  /** How long `auto` looks. */
  readonly lookMs: number;
  readonly env: Environment;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** A wait for the sidecars and targets that is under way. */
export interface Wait {
  /** Resolves when all are ready; rejects with the signal's reason when it is aborted. */
  readonly done: Promise<void>;
  /** The sidecars, once they are found. */
  readonly sidecars: () => readonly Sidecar[] | undefined;
  /** What is not ready yet, and why. */
  readonly pending: () => string;
  /** One sentence: what has not been ready within the time, and why. */
  readonly failure: () => string;
}

export function startWait(options: WaitOptions): Wait {
  const reasons = new Map<string, string>();
  let sidecars: readonly Sidecar[] | undefined;
  const wait = async (): Promise<void> => {
    const { settings, env, log, signal, lookMs } = options;
    sidecars = await findSidecars(settings, {
      env,
      forMs: lookMs,
      signal,
      log,
    });
    const waits: Promise<void>[] = [];
    for (const sidecar of sidecars) {
      const tell = (reason: string) => options.onNotReady?.(sidecar, reason);
      for (const probe of sidecar.ready) waits.push(waitFor(probe, reasons, options, tell));
    }
    if (options.any === true) waits.push(waitForAny(reasons, options));
    else for (const probe of options.targets) waits.push(waitFor(probe, reasons, options));
    await Promise.all(waits);
  };
  const pending = () => {
    if (sidecars === undefined) return "still looking for sidecars";
    return [...reasons].map(([target, reason]) => `${target}: ${reason}`).join("; ");
  };
  const failure = () => `not ready within ${formatDuration(options.settings.waitTimeout)}: ${pending()}`;
  return { done: wait(), sidecars: () => sidecars, pending, failure };
}

/** Until the first of the targets is ready; the others are then no longer asked. */
async function waitForAny(reasons: Map<string, string>, options: WaitOptions): Promise<void> {
  const others = new AbortController();
  const signal = AbortSignal.any([options.signal, others.signal]);
  await Promise.any(options.targets.map((probe) => waitFor(probe, reasons, { ...options, signal })));
  others.abort();
  for (const probe of options.targets) reasons.delete(describeProbe(probe));
}

/** Logs each reason once at info, every attempt at debug. */
async function waitFor(
  probe: Probe,
  reasons: Map<string, string>,
  { log, signal }: WaitOptions,
  tell?: (reason: string) => void,
): Promise<void> {
  const target = describeProbe(probe);
  const start = performance.now();
  reasons.set(target, "no answer yet");
  await whenReady(probe, signal, (reason) => {
    log.debug({ target, reason }, "attempt");
    if (reasons.get(target) === reason) return;
    reasons.set(target, reason);
    log.info({ target, reason }, "not ready");
    tell?.(reason);
  });
  reasons.delete(target);
  log.info({ target, waitedMs: toTenths(performance.now() - start) }, "ready");
}
