import { formatDuration, formatSeconds, toTenths } from "../../core/base/duration.ts";
import type { Environment } from "../../core/base/environment.ts";
import type { Settings } from "../../core/cli/options.ts";
import { describeProbe, type Probe } from "../../core/sidecars/probe.ts";
import type { Sidecar } from "../../core/sidecars/sidecar.ts";
import { REFUSED } from "../http/request-failed.ts";
import type { Log } from "../output/log.ts";
import { type FoundSidecars, findSidecars, type SidecarSettings } from "./find.ts";
import { whenReady } from "./ready.ts";
import { isUnsettled, loadNeighbours, settle } from "./settle.ts";
import { createStrangers } from "./strangers.ts";

export interface WaitOptions {
  readonly settings: SidecarSettings & Settings<"waitTimeout">;
  /** Further probes to wait for, beside the sidecars. */
  readonly targets: readonly Probe[];
  /** Whether one ready target is enough. The sidecars must all be ready in any case. */
  readonly any?: boolean;
  /** Called with each new reason why a sidecar is not ready. */
  readonly onNotReady?: (sidecar: Sidecar, reason: string) => void;
  /** How long `auto` looks for sidecars. */
  readonly lookMs: number;
  readonly env: Environment;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** A wait for the sidecars and targets that is under way. */
export interface Wait {
  /** Resolves when all are ready. Rejects with the signal's reason if that is aborted. */
  readonly done: Promise<void>;
  /** Returns the sidecars as they were found last; undefined until they are found. */
  readonly here: () => FoundSidecars | undefined;
  /** Returns a line for a terminal: for how long and for what it waits. */
  readonly line: (waitedMs: number) => string;
  /** Returns a sentence: what has not been ready within `--wait-timeout`, and why. */
  readonly failure: () => `not ready within ${string}: ${string}`;
}

/**
 * Starts to find the sidecars and to wait until they and the targets are ready, and returns at once. Does not end at
 * `--wait-timeout`: the caller aborts the signal. Logs each new reason at info, and each attempt at debug.
 */
export function startWait(options: WaitOptions): Wait {
  const reasons = new Map<Probe, string>();
  let here: FoundSidecars | undefined;
  const wait = async (): Promise<void> => {
    const { settings, env, log, signal, lookMs } = options;
    const { onStranger } = createStrangers(log, "info", "did not wait for a proxy");
    here = await findSidecars(settings, { env, forMs: lookMs, signal, log, onStranger });
    const onMoved = (moved: FoundSidecars): void => {
      here = moved;
    };
    const waits = [waitForAll(here, reasons, options, onMoved)];
    if (options.any === true) waits.push(waitForAny(reasons, options));
    else for (const probe of options.targets) waits.push(waitFor(probe, reasons, options));
    await Promise.all(waits);
  };
  const pending = () => {
    if (here === undefined) return "still looking for sidecars";
    return [...reasons].map(([probe, reason]) => `${describeProbe(probe)}: ${reason}`).join("; ");
  };
  const failure = () => `not ready within ${formatDuration(options.settings.waitTimeout)}: ${pending()}` as const;
  const line = (waitedMs: number) => `waiting for ${formatSeconds(waitedMs)}: ${pending()}`;
  return { done: wait(), here: () => here, line, failure };
}

/** After a wait of so long, a port on which nobody listens lets ebb look elsewhere for the admin interface. */
const ELSEWHERE_MS = 1000;
const LOOK_PERIOD_MS = 250;

/**
 * Waits for all sidecars. If the port of one refuses after a second, ebb looks for its admin interface elsewhere,
 * passes the sidecars with that to `onMoved`, and waits for them anew.
 */
async function waitForAll(
  here: FoundSidecars,
  reasons: Map<Probe, string>,
  options: WaitOptions,
  onMoved: (here: FoundSidecars) => void,
): Promise<void> {
  const start = performance.now();
  const place = new AbortController();
  const cut = () => place.abort(options.signal.reason);
  options.signal.addEventListener("abort", cut, { once: true });
  let moved: Promise<FoundSidecars> | undefined;
  const onRefused = (): void => {
    if (performance.now() - start < ELSEWHERE_MS || !isUnsettled(here, options.settings, "wait")) return;
    moved ??= findElsewhere(here, options, place.signal).finally(() => place.abort());
    moved.catch(() => undefined); // all were ready, or the wait is over; the one that awaits it gets the error
  };
  const waits: Promise<void>[] = [];
  for (const sidecar of here.sidecars) {
    const tell = (reason: string) => options.onNotReady?.(sidecar, reason);
    for (const probe of sidecar.ready) {
      waits.push(waitFor(probe, reasons, { ...options, signal: place.signal }, { tell, onRefused }));
    }
  }
  try {
    await Promise.all(waits);
    return place.abort();
  } catch (error) {
    if (moved === undefined || !place.signal.aborted || options.signal.aborted) throw error;
  } finally {
    options.signal.removeEventListener("abort", cut);
  }
  const next = await moved;
  for (const { ready } of here.sidecars) for (const probe of ready) reasons.delete(probe);
  onMoved(next);
  await waitForAll(next, reasons, options, onMoved);
}

/** Resolves once an admin interface was found elsewhere. Rejects with the signal's reason if that is aborted. */
async function findElsewhere(
  here: FoundSidecars,
  { settings, env, log }: WaitOptions,
  signal: AbortSignal,
): Promise<FoundSidecars> {
  const neighbours = await loadNeighbours(settings, env);
  const order = { env, log, signal, purpose: "wait", neighbours, onStranger: () => undefined } as const;
  for (;;) {
    const next = await settle(here, settings, order);
    if (next !== here) return next;
    signal.throwIfAborted();
    await Bun.sleep(LOOK_PERIOD_MS);
  }
}

/** Waits until the first of the targets is ready; the others are then no longer asked. */
async function waitForAny(reasons: Map<Probe, string>, options: WaitOptions): Promise<void> {
  const others = new AbortController();
  const signal = AbortSignal.any([options.signal, others.signal]);
  await Promise.any(options.targets.map((probe) => waitFor(probe, reasons, { ...options, signal })));
  others.abort();
  for (const probe of options.targets) reasons.delete(probe);
}

interface Telling {
  /** Called with each new reason. */
  readonly tell: (reason: string) => void;
  /** Called each time that the connection is refused. */
  readonly onRefused: () => void;
}

/** Waits for one probe. Logs each new reason at info, every attempt at debug. Keeps the current reason in `reasons`. */
async function waitFor(
  probe: Probe,
  reasons: Map<Probe, string>,
  { log, signal, settings }: Pick<WaitOptions, "log" | "signal" | "settings">,
  telling?: Telling,
): Promise<void> {
  const target = describeProbe(probe);
  const start = performance.now();
  const limitMs = Number.isFinite(settings.waitTimeout) ? settings.waitTimeout : undefined;
  reasons.set(probe, "no answer yet");
  const onNotReady = (reason: string): void => {
    log.debug({ target, reason }, "not ready yet");
    if (reason === REFUSED) telling?.onRefused();
    if (reasons.get(probe) === reason) return;
    reasons.set(probe, reason);
    log.info({ target, reason, limitMs }, "waiting until ready");
    telling?.tell(reason);
  };
  await whenReady(probe, signal, { onNotReady, hearsAll: log.isDebug });
  reasons.delete(probe);
  if (signal.aborted) return; // the wait has ended in another way, and has written its last line
  log.info({ target, waitedMs: toTenths(performance.now() - start) }, "ready");
}
