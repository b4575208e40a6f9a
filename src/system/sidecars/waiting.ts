import { formatDuration, formatSeconds, toTenths } from "../../core/base/duration.ts";
import type { Environment } from "../../core/base/environment.ts";
import type { Settings } from "../../core/cli/options.ts";
import { PLAIN } from "../../core/sidecars/port-finding.ts";
import { describeProbe, type Probe, pollPeriodMs } from "../../core/sidecars/probe.ts";
import type { Sidecar } from "../../core/sidecars/sidecar.ts";
import { REFUSED } from "../http/request-failed.ts";
import type { Log } from "../output/log.ts";
import { type FoundSidecars, findSidecars, type SidecarSettings } from "./find.ts";
import { isAt } from "./quit-watch.ts";
import { whenReady } from "./ready.ts";

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
    here = await findSidecars(settings, { env, forMs: lookMs, signal, log });
    for (const reason of here.doubts) log.info({ reason }, "did not wait for a proxy");
    const waits: Promise<void>[] = [];
    for (const [at, sidecar] of here.sidecars.entries()) {
      const { name, isSuggested } = here.found[at] ?? {};
      waits.push(name === PLAIN && isSuggested === true ? waitWherever(at) : waitForOne(sidecar, reasons, options));
    }
    if (options.any === true) waits.push(waitForAny(reasons, options));
    else for (const probe of options.targets) waits.push(waitFor(probe, reasons, options));
    await Promise.all(waits);
  };
  /** Waits for a plain Envoy at its usual place, until `whenPlaced` knows where it is, which may be elsewhere. */
  const waitWherever = async (at: number): Promise<void> => {
    const elsewhere = new AbortController();
    const until = { ...options, signal: AbortSignal.any([options.signal, elsewhere.signal]) };
    const usual = (here as FoundSidecars).sidecars[at] as Sidecar;
    const found = await Promise.race([waitForOne(usual, reasons, until), whenPlaced(at, until, here?.found)]);
    elsewhere.abort();
    if (found === undefined) return;
    here = found;
    for (const probe of usual.ready) reasons.delete(probe);
    await waitForOne(found.sidecars[at] as Sidecar, reasons, options);
  };
  const pending = () => {
    if (here === undefined) return "still looking for sidecars";
    return [...reasons].map(([probe, reason]) => `${describeProbe(probe)}: ${reason}`).join("; ");
  };
  const failure = () => `not ready within ${formatDuration(options.settings.waitTimeout)}: ${pending()}` as const;
  const line = (waitedMs: number) => `waiting for ${formatSeconds(waitedMs)}: ${pending()}`;
  return { done: wait(), here: () => here, line, failure };
}

/** Waits until all that is asked of a sidecar is ready. */
async function waitForOne(sidecar: Sidecar, reasons: Map<Probe, string>, options: WaitOptions): Promise<void> {
  await Promise.all(sidecar.ready.map((probe) => waitFor(probe, reasons, options, sidecar)));
}

/** Looks again until the sidecar at index `at` has answered, and resolves with the sidecars as they are then. */
async function whenPlaced(
  at: number,
  { settings, env, log, signal }: WaitOptions,
  before: FoundSidecars["found"] = [],
): Promise<FoundSidecars> {
  const start = performance.now();
  for (;;) {
    const here = await findSidecars(settings, { env, forMs: 0, before, signal, log });
    if (here.found[at]?.isSuggested !== true) return here;
    await Bun.sleep(pollPeriodMs(performance.now() - start));
    signal.throwIfAborted();
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

/**
 * Waits for one probe, which may be a sidecar's. Logs each new reason at info, every attempt at debug. Keeps the current
 * reason in `reasons`.
 */
async function waitFor(
  probe: Probe,
  reasons: Map<Probe, string>,
  { log, signal, settings, onNotReady: tell }: WaitOptions,
  sidecar?: Sidecar,
): Promise<void> {
  const target = describeProbe(probe);
  const start = performance.now();
  const limitMs = Number.isFinite(settings.waitTimeout) ? settings.waitTimeout : undefined;
  reasons.set(probe, "no answer yet");
  const onNotReady = (what: string): void => {
    const isElsewhere = what === REFUSED && settings.admin === undefined && isAtAdmin(probe, sidecar);
    const reason = isElsewhere ? `${REFUSED}: if its admin interface is elsewhere, set --admin` : what;
    log.debug({ target, reason }, "not ready yet");
    if (reasons.get(probe) === reason) return;
    reasons.set(probe, reason);
    log.info({ target, reason, limitMs }, "waiting until ready");
    if (sidecar !== undefined) tell?.(sidecar, reason);
  };
  await whenReady(probe, signal, onNotReady);
  reasons.delete(probe);
  if (signal.aborted) return; // the wait has ended in another way, and has written its last line
  log.info({ target, waitedMs: toTenths(performance.now() - start) }, "ready");
}

/** Reports whether a probe asks at the admin interface of the sidecar's Envoy. */
function isAtAdmin(probe: Probe, sidecar: Sidecar | undefined): boolean {
  const admin = sidecar?.envoy?.admin.address;
  return admin !== undefined && probe.kind !== "any" && isAt(probe, admin);
}
