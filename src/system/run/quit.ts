import type { Settings } from "../../core/cli/options.ts";
import { describeQuit } from "../../core/sidecars/quit.ts";
import type { QuitRequest, Sidecar } from "../../core/sidecars/sidecar.ts";
import { createHttpClient } from "../http/http.ts";
import { RequestFailed } from "../http/request-failed.ts";
import { runOrLogBug, withTimeLimit } from "../process/unexpected.ts";
import { logQuit, quitAll } from "../sidecars/quit.ts";
import { type Ask, askServer, headersOf } from "../sidecars/quit-request.ts";
import { abortedAfter, leftUntil } from "../timer.ts";
import { knownSidecars, type SidecarContext, waitedFor } from "./sidecars.ts";

/** The part of a run that quitting needs. */
export interface Quitting extends SidecarContext {
  readonly settings: SidecarContext["settings"] & Settings<"header">;
  /** Whether the sidecars have been up. */
  readonly isReady: boolean;
  /** The targets to which a quit was sent, or has failed for a reason that is no bug. Filled here. */
  readonly asked: Set<QuitRequest["target"]>;
}

/**
 * Tells the sidecars to quit, and logs the outcome of each quit. Resolves with true if nothing went wrong that nobody
 * expects. Otherwise, or if it rejects, `quitPlainly` has to do what is left. Takes three times `--quit-timeout` and
 * 1 s at most.
 */
export async function quitSidecars(run: Quitting): Promise<boolean> {
  // thrice: to find them, to send the quits with +, and to send the others
  return (await withTimeLimit(tellSidecars(run), 3 * run.settings.quitTimeout)) === true;
}

/**
 * Sends each quit that was not sent yet once, without watching the sidecar go and without signals. For after a bug in
 * ebb.
 */
export async function quitPlainly(run: Quitting): Promise<void> {
  await withTimeLimit(tellPlainly(run), run.settings.quitTimeout);
}

async function tellSidecars(run: Quitting): Promise<boolean> {
  const { settings, log, asked } = run;
  const end = performance.now() + settings.quitTimeout;
  const sidecars = waitedFor(run) ?? (await knownSidecars(run, "quit"));
  const ask: Ask = async (request, signal) => {
    asked.add(request.target);
    try {
      return await askServer(request, signal);
    } catch (error) {
      if (!(error instanceof RequestFailed) && !signal.aborted) asked.delete(request.target); // a bug: maybe not sent
      throw error;
    }
  };
  const reports = await quitAll(sidecars, {
    timeoutMs: leftUntil(end),
    headers: settings.header,
    wereReady: run.isReady,
    ask,
  });
  let isWhole = true;
  for (const report of reports) {
    logQuit(log, report.error === undefined ? "warn" : "error", report);
    isWhole &&= report.error === undefined;
  }
  return isWhole;
}

async function tellPlainly(run: Quitting): Promise<void> {
  const signal = abortedAfter(run.settings.quitTimeout);
  const telling: Promise<void>[] = [];
  for (const { name, quits } of await plainlyKnown(run)) {
    for (const quit of quits) if (!run.asked.has(quit.target)) telling.push(tellOne(run, { name, quit }, signal));
  }
  await Promise.all(telling);
}

/** Finds the sidecars. If a bug prevents that, returns those that the wait found. */
async function plainlyKnown(run: Quitting): Promise<readonly Sidecar[]> {
  const found = await runOrLogBug(() => knownSidecars(run, "quit"), run.log, "the sidecars could not be found again");
  return found ?? run.wait?.here()?.sidecars ?? [];
}

interface One {
  readonly name: Sidecar["name"];
  readonly quit: QuitRequest;
}

/** Sends one quit and logs the outcome, without `askServer`, which may be what has failed. */
async function tellOne({ settings, log }: Quitting, { name, quit }: One, signal: AbortSignal): Promise<void> {
  const request = describeQuit(quit);
  const { method, target } = quit;
  try {
    using client = createHttpClient();
    const { status } = await client.request({ method, target, headers: headersOf(quit, settings.header) }, signal);
    log.warn({ sidecar: name, request, status }, "sent the quit once, without a check");
  } catch (error) {
    log.error({ sidecar: name, request, error: String(error) }, "cannot send the quit");
  }
}
