import { beginLog } from "../begin-log.ts";
import { badCall, type Command, type Invocation } from "../command.ts";
import type { InFlight } from "../pod/envoy/core/in-flight.ts";
import { drainAll } from "../pod/envoy/drain.ts";
import { findSidecars } from "../pod/find/find.ts";
import { openPodLog } from "../pod/process/pod-log.ts";
import { logQuit, quitAll } from "../pod/quit/quit.ts";
import { type Call, readFlagCall } from "../shared/cli/core/call.ts";
import { changed, option } from "../shared/cli/core/option.ts";
import { optionsOf } from "../shared/cli/core/options.ts";
import { boolean } from "../shared/cli/core/syntax.ts";
import { formatDuration, formatSeconds } from "../shared/core/duration.ts";
import { EXIT, Failure } from "../shared/core/exit.ts";
import { planShutdown, splitDrain } from "../shared/core/shutdown-budget.ts";
import { counted } from "../shared/core/wording.ts";
import { trustFile } from "../shared/http/trust.ts";
import { leftUntil } from "../shared/io/timer.ts";
import { keepLive } from "../shared/output/live.ts";
import type { Log } from "../shared/output/log.ts";
import { stopOf } from "../shared/process/stop.ts";
import type { Sidecar } from "../shared/sidecars/core/sidecar.ts";
import { unnamedFor, whyUnnamed } from "../shared/sidecars/core/unnamed.ts";

const common = optionsOf("drain");
const options = {
  ...common,
  drain: changed(common.drain, {
    initial: 60_000,
    initially: "60s",
    help: "time limit for the whole drain, including --then-quit",
    brief: "limit for the whole drain",
  }),
  quit: changed(common.quit, {
    help: "a shutdown request for --then-quit to send instead of the sidecar's usual one; +URL sends it before the usual one",
  }),
  thenQuit: option({
    flag: "then-quit",
    group: "shutdown",
    initial: false,
    syntax: boolean,
    isFlagOnly: true,
    help: "shut down the sidecars after the drain",
    brief: "then shut down the sidecars",
  }),
};

/**
 * `ebb drain` fails the health checks, keeps accepting connections, drains the listeners, and waits until the sidecars
 * are idle or time is up. With --then-quit it then tells them to quit. Exits with 0 if nothing was left in flight and no
 * quit failed, with 69 otherwise, with 128+n after stop signal n.
 */
export const command: Command = {
  summary: "let the sidecars finish the work in flight, within a time limit",
  usage: "drain [flags]",
  examples: [
    {
      call: "ebb drain --drain 40s --pod-grace 60s",
      why: "As the preStop hook of an app that ebb does not start, and of its ordinary proxy.",
    },
    {
      call: "ebb drain --then-quit --sidecar envoy",
      why: "With kubectl exec: takes one gateway pod out of service, then ends it.",
    },
  ],
  exits: [
    ["0", "at most --max-in-flight were left in flight"],
    badCall,
    ["69", "out of time, or could not drain; the log says which"],
    ["128+n", "signal n ended it"],
  ],
  seeAlso: ["run", "quit", "sleep"],
  options,
  main,
};

type DrainSettings = Call<typeof options>["values"];

async function main({ args, env, signals }: Invocation): Promise<number> {
  const call = readFlagCall(options, { args, env }, command.usage);
  const settings = call.values;
  refuseIdleQuit(call);
  const log = beginLog(settings, { env }, openPodLog());
  trustFile(settings.caFile);
  const wholeMs = planShutdown(settings).drainMs;
  const isOff = wholeMs === 0;
  if (isOff)
    log.warn(
      { drain: settings.drain, podGrace: settings.podGrace },
      "no time to drain: --drain and --pod-grace leave none",
    );
  if (isOff && !settings.thenQuit) return EXIT.ok;
  const start = performance.now();
  const end = start + wholeMs;
  const stop = stopOf(signals);
  const { signal } = stop;
  const here = await findSidecars(settings, { env, forMs: 0, actMs: wholeMs, signal, log });
  const { sidecars } = here;
  const acts = settings.thenQuit ? (["drain", "quit"] as const) : (["drain"] as const);
  const doubts = [...here.doubts, ...unnamedFor(acts, here, settings).map(whyUnnamed)];
  const left = settings.thenQuit ? "did not drain or shut down a proxy" : "did not drain a proxy";
  for (const reason of doubts) log.error({ reason }, left);
  const { drainMs, quitMs } = settings.thenQuit ? splitDrain(wholeMs) : { drainMs: wholeMs, quitMs: 0 };
  const isDrained =
    (isOff || (await drain(sidecars, { start, drainMs, settings, log, signal }))) && doubts.length === 0;
  if (signal.aborted) return 128 + (await stop.came);
  if (!settings.thenQuit) return isDrained ? EXIT.ok : EXIT.unavailable;
  // if there is no draining the quit has its own time
  const leftMs = isOff ? settings.quitTimeout : Math.max(quitMs, end - performance.now());
  const timeoutMs = Math.min(settings.quitTimeout, leftMs);
  const haveQuit = await Promise.race([quit(sidecars, timeoutMs, { settings, log }), stop.came]);
  if (typeof haveQuit === "number") return 128 + haveQuit;
  return isDrained && haveQuit ? EXIT.ok : EXIT.unavailable;
}

/**
 * Refuses flags that say how to quit, in a call that does not quit: who gives them wants a quit. As variables they may be
 * those of `ebb run` in the same container. @throws Failure(64)
 */
function refuseIdleQuit({ values, origins }: Call<typeof options>): void {
  const idle = values.thenQuit ? undefined : [origins.quit, origins.signalProcess].find((one) => one.startsWith("--"));
  if (idle === undefined) return;
  throw new Failure(EXIT.usage, `${idle}: expected --then-quit too: without it, ebb drain shuts down no sidecar`);
}

interface Drain {
  /** When the command began (performance.now()). */
  readonly start: number;
  readonly drainMs: number;
  readonly settings: DrainSettings;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** Drains, with a live line at a terminal. Resolves with whether nothing was left in flight. */
async function drain(sidecars: readonly Sidecar[], { start, drainMs, settings, log, signal }: Drain): Promise<boolean> {
  const counts = new Map<string, InFlight>();
  const endLive = keepLive((elapsedMs) => lineOf(counts, elapsedMs, drainMs));
  log.info({ atMostMs: drainMs }, "draining");
  const isDrained = await drainAll(sidecars, {
    drainMs,
    boundMs: leftUntil(start + drainMs),
    minMs: settings.minDrain,
    maxInFlight: settings.maxInFlight,
    wereReady: false,
    log,
    signal,
    onProgress: (sidecar, inFlight) => counts.set(sidecar, inFlight),
  });
  endLive();
  return isDrained;
}

function lineOf(counts: ReadonlyMap<string, InFlight>, elapsedMs: number, drainMs: number): string {
  const parts = [...counts].map(([name, { requests, connections }]) => {
    return `${name}: ${counted(requests, "request")}, ${counted(connections, "connection")}`;
  });
  const what = parts.length === 0 ? "still accepting" : parts.join("; ");
  return `draining ${formatSeconds(elapsedMs)} of ${formatDuration(drainMs)}: ${what}`;
}

async function quit(
  sidecars: readonly Sidecar[],
  timeoutMs: number,
  { settings, log }: Pick<Drain, "settings" | "log">,
): Promise<boolean> {
  const reports = await quitAll(sidecars, {
    timeoutMs,
    withinMs: timeoutMs,
    headers: settings.header,
    known: () => "up",
  });
  for (const report of reports) logQuit(log, "error", report);
  return reports.every(({ ok }) => ok);
}
