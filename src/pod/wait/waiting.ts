import type { Settings } from "../../shared/cli/core/options.ts";
import { formatDuration, formatSeconds, toTenths } from "../../shared/core/duration.ts";
import type { Environment } from "../../shared/core/environment.ts";
import { REFUSED } from "../../shared/http/request-failed.ts";
import type { Log } from "../../shared/output/log.ts";
import { PLAIN } from "../../shared/sidecars/core/identify.ts";
import { describeProbe, isAt, type Probe, pollPeriodMs } from "../../shared/sidecars/core/probe.ts";
import type { Sidecar } from "../../shared/sidecars/core/sidecar.ts";
import { unnamedFor, whyUnnamed } from "../../shared/sidecars/core/unnamed.ts";
import { type FoundSidecars, findSidecars, type SidecarSettings } from "../find/find.ts";
import { whenReady } from "../probe/ready.ts";
import { adviceFor, type Expected, explain, type Logged, nextLine } from "./core/wait-lines.ts";

interface WaitOptions {
  readonly settings: SidecarSettings & Settings<"waitTimeout">;
  /** Further probes to wait for, beside the sidecars. */
  readonly targets: readonly Probe[];
  /** Whether one ready target is enough. The sidecars must all be ready in any case. */
  readonly any?: boolean;
  /** Called with each new reason why a sidecar is not ready. */
  readonly onNotReady?: (sidecar: Sidecar, reason: string) => void;
  /** What must have resolved before the sidecars are looked for. If it rejects, the wait does. */
  readonly after?: Promise<void>;
  /** How long `auto` looks for sidecars. */
  readonly lookMs: number;
  readonly env: Environment;
  readonly log: Log;
  readonly signal: AbortSignal;
}

interface Waiting extends WaitOptions {
  /** The sidecars of which anything has answered, or has not refused a connection. */
  readonly heard: Set<Sidecar["name"]>;
}

/** A wait for the sidecars and targets that is under way. */
export interface Wait {
  /** Resolves when all are ready. Rejects with the signal's reason if that is aborted. */
  readonly done: Promise<void>;
  /** Returns the sidecars as they were found last; undefined until they are found. */
  readonly here: () => FoundSidecars | undefined;
  /** Reports whether anything of a sidecar has answered, or has not refused a connection. */
  readonly hasHeard: (name: Sidecar["name"]) => boolean;
  /** Returns a line for a terminal: for how long and for what it waits. */
  readonly line: (waitedMs: number) => string;
  /** Returns a sentence: what has not been ready within `--wait-timeout`, and why. */
  readonly failure: () => string;
}

/**
 * Starts to find the sidecars and to wait until they and the targets are ready, and returns at once. Does not end at
 * `--wait-timeout`: the caller aborts the signal. Logs the reasons at info, and each attempt at debug.
 */
export function startWait(given: WaitOptions): Wait {
  const options: Waiting = { ...given, heard: new Set() };
  const reasons: Reasons = new Map();
  let here: FoundSidecars | undefined;
  const wait = async (): Promise<void> => {
    const { settings, env, log, signal, lookMs, after } = options;
    await after;
    here = await findSidecars(settings, { env, forMs: lookMs, signal, log });
    signal.throwIfAborted();
    for (const reason of here.doubts) log.info({ reason }, "did not wait for a proxy");
    for (const name of unnamedFor(["wait"], here, settings))
      log.warn({ reason: whyUnnamed(name) }, "did not wait for a proxy");
    const waits: Promise<void>[] = [];
    for (const [at, sidecar] of here.sidecars.entries()) {
      const { name, isSuggested } = here.found[at] ?? {};
      const owner = { sidecar, by: here.by };
      waits.push(name === PLAIN && isSuggested === true ? waitWherever(at) : waitForOne(owner, reasons, options));
    }
    if (options.any === true) waits.push(waitForAny(reasons, options));
    else for (const probe of options.targets) waits.push(waitFor(probe, reasons, options));
    await Promise.all(waits);
  };
  /** Waits for a plain Envoy at its usual place, until `whenPlaced` knows where it is, which may be elsewhere. */
  const waitWherever = async (at: number): Promise<void> => {
    const elsewhere = new AbortController();
    const until = { ...options, signal: AbortSignal.any([options.signal, elsewhere.signal]) };
    const { sidecars, by, found: before } = here as FoundSidecars;
    const usual = sidecars[at] as Sidecar;
    const found = await Promise.race([
      waitForOne({ sidecar: usual, by }, reasons, until),
      whenPlaced(at, until, before),
    ]);
    elsewhere.abort();
    if (found === undefined) return;
    here = found;
    for (const probe of usual.ready) reasons.delete(probe);
    await waitForOne({ sidecar: found.sidecars[at] as Sidecar, by: found.by ?? by }, reasons, options);
  };
  const pending = (isWhole: boolean) => {
    if (here === undefined) return stillLooking(options);
    const texts: string[] = [];
    for (const [probe, { reason, why }] of reasons)
      texts.push(`${describeProbe(probe)}: ${reason}${isWhole ? why() : ""}`);
    return texts.join("; ");
  };
  const failure = () => `not ready within ${formatDuration(options.settings.waitTimeout)}: ${pending(true)}`;
  const line = (waitedMs: number) => `waiting for ${formatSeconds(waitedMs)}: ${pending(false)}`;
  return { done: wait(), here: () => here, hasHeard: (name) => options.heard.has(name), line, failure };
}

/** Says that the sidecars are not found yet, and what is therefore not asked yet. */
function stillLooking({ settings, targets }: WaitOptions): string {
  const later: string[] = [];
  for (const { name } of settings.sidecar.named) later.push(name);
  for (const probe of [...settings.ready, ...targets]) later.push(describeProbe(probe));
  return `still looking for sidecars${later.length === 0 ? "" : `, and not asked yet: ${later.join(", ")}`}`;
}

/** Waits until all that is asked of a sidecar is ready. */
async function waitForOne(owner: Owner, reasons: Reasons, options: Waiting): Promise<void> {
  await Promise.all(owner.sidecar.ready.map((probe) => waitFor(probe, reasons, options, owner)));
}

/** Looks again until the sidecar at index `at` has answered, and resolves with the sidecars as they are then. */
async function whenPlaced(
  at: number,
  { settings, env, log, signal }: WaitOptions,
  before: FoundSidecars["found"],
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
async function waitForAny(reasons: Reasons, options: Waiting): Promise<void> {
  const others = new AbortController();
  const signal = AbortSignal.any([options.signal, others.signal]);
  await Promise.any(options.targets.map((probe) => waitFor(probe, reasons, { ...options, signal })));
  others.abort();
  for (const probe of options.targets) reasons.delete(probe);
}

/** Why each probe is not ready; `why` formats whose it is and what to do. */
type Reasons = Map<Probe, { readonly reason: string; readonly why: () => string }>;

/** The sidecar that a probe asks, and what showed it. */
interface Owner {
  readonly sidecar: Sidecar;
  readonly by: string | undefined;
}

/**
 * Waits for one probe, which may be a sidecar's. Logs at info the changes of its reason, as far as `nextLine` lets it,
 * and every attempt at debug. Keeps the current reason in `reasons`.
 */
async function waitFor(
  probe: Probe,
  reasons: Reasons,
  { log, signal, settings, heard, onNotReady: tell }: Waiting,
  owner?: Owner,
): Promise<void> {
  const target = describeProbe(probe);
  const start = performance.now();
  const limitMs = Number.isFinite(settings.waitTimeout) ? settings.waitTimeout : undefined;
  const expected = expectedOf(probe, settings, owner);
  const note = (reason: string) =>
    void reasons.set(probe, { reason, why: () => explain(expected, adviceFor(reason, expected, REFUSED)) });
  note("no answer yet");
  let logged: Logged | undefined;
  const onNotReady = (reason: string): void => {
    log.debug({ target, reason }, "not ready yet");
    if (reasons.get(probe)?.reason !== reason) {
      note(reason);
      if (owner !== undefined && reason !== REFUSED) heard.add(owner.sidecar.name);
      if (owner !== undefined) tell?.(owner.sidecar, reason);
    }
    const waitedMs = Math.round(performance.now() - start);
    const line = nextLine(logged, reason, waitedMs);
    if (line === undefined) return;
    logged = line;
    const { sidecar, by } = expected;
    const how = adviceFor(reason, expected, REFUSED);
    log.info({ target, reason, sidecar, by, how, waitedMs, limitMs }, "waiting until ready");
  };
  await whenReady(probe, signal, onNotReady);
  reasons.delete(probe);
  if (owner !== undefined) heard.add(owner.sidecar.name);
  if (signal.aborted) return; // the wait has ended in another way, and has written its last line
  log.info({ target, waitedMs: toTenths(performance.now() - start) }, "ready");
}

/** Returns what is known of a probe. A target that the user names by its URL is no sidecar's, nor shown by anything. */
function expectedOf(probe: Probe, { admin }: SidecarSettings, owner: Owner | undefined): Expected {
  if (owner === undefined || owner.sidecar.name === "custom")
    return { sidecar: undefined, by: undefined, isUsualAdmin: false };
  const { sidecar, by } = owner;
  const isUsualAdmin = admin === undefined && isAtAdmin(probe, sidecar);
  return { sidecar: sidecar.name, by, isUsualAdmin, isProven: sidecar.isProven === true };
}

/** Reports whether a probe asks at the admin interface of the sidecar's Envoy. */
function isAtAdmin(probe: Probe, sidecar: Sidecar): boolean {
  const admin = sidecar.envoy?.admin.address;
  return admin !== undefined && probe.kind !== "any" && isAt(probe, admin);
}
