import type { Settings } from "../../core/options.ts";
import { describeQuit } from "../../core/sidecars/quit.ts";
import type { QuitRequest, Sidecar } from "../../core/sidecars/sidecar.ts";
import { quitAll } from "../quit.ts";
import { type Ask, askServer, headersOf } from "../quit-request.ts";
import { abortedAfter, leftUntil } from "../timer.ts";
import { bounded, logBug } from "../unexpected.ts";
import { type Company, knownSidecars, waitedFor } from "./sidecars.ts";

export interface Quitting extends Company {
  readonly settings: Company["settings"] & Settings<"header">;
  /** Whether the sidecars have been up. */
  readonly isReady: boolean;
}

/** Never rejects. Where a bug in ebb keeps a quit from being asked, it is asked once, plainly. */
export async function quitSidecars(run: Quitting): Promise<void> {
  const asked = new Set<QuitRequest["target"]>();
  try {
    // to find them, to ask those with +, and the others
    const isWhole = await bounded(tellSidecars(run, asked), 3 * run.settings.quitTimeout);
    if (isWhole === true) return;
  } catch (error) {
    logBug(run.log, error, "the quits failed");
  }
  try {
    await bounded(tellPlainly(run, asked), run.settings.quitTimeout);
  } catch (error) {
    logBug(run.log, error, "the plain quits failed");
  }
}

/** Whether nothing went wrong that nobody expects. */
async function tellSidecars(run: Quitting, asked: Set<QuitRequest["target"]>): Promise<boolean> {
  const { settings, log } = run;
  const end = performance.now() + settings.quitTimeout;
  const sidecars = await toQuit(run);
  const ask: Ask = (request, signal) => {
    asked.add(request.target);
    return askServer(request, signal);
  };
  const reports = await quitAll(sidecars, {
    timeoutMs: leftUntil(end),
    headers: settings.header,
    wereReady: run.isReady,
    ask,
  });
  let isWhole = true;
  for (const { ok, ...report } of reports) {
    log[levelOf(ok, report.error)](report, "quit");
    isWhole &&= report.error === undefined;
  }
  return isWhole;
}

function levelOf(ok: boolean, error: string | undefined): "info" | "warn" | "error" {
  if (error !== undefined) return "error";
  return ok ? "info" : "warn";
}

async function toQuit(run: Company): Promise<readonly Sidecar[]> {
  return waitedFor(run, "quit") ?? (await knownSidecars(run, "quit"));
}

/** Those that were not asked yet: no repeats, no watching, no signals. */
async function tellPlainly(run: Quitting, asked: ReadonlySet<QuitRequest["target"]>): Promise<void> {
  const signal = abortedAfter(run.settings.quitTimeout);
  const telling: Promise<void>[] = [];
  for (const { name, quits } of await toQuit(run)) {
    for (const quit of quits) if (!asked.has(quit.target)) telling.push(tellOne(run, { name, quit }, signal));
  }
  await Promise.all(telling);
}

interface One {
  readonly name: Sidecar["name"];
  readonly quit: QuitRequest;
}

async function tellOne({ settings, log }: Quitting, { name, quit }: One, signal: AbortSignal): Promise<void> {
  const request = describeQuit(quit);
  const { method, target } = quit;
  try {
    const { status } = await askServer({ method, target, headers: headersOf(quit, settings.header) }, signal);
    log.warn({ sidecar: name, request, status }, "quit, asked once");
  } catch (error) {
    log.error({ sidecar: name, request, error: String(error) }, "quit, asked once");
  }
}
