import { EXIT, Failure } from "../../shared/core/exit.ts";
import type { Log } from "../../shared/output/log.ts";
import { writeOutput } from "../../shared/output/output.ts";
import { isApiFailure } from "../api/api-error.ts";
import type { ApiClient } from "../api/client.ts";
import { type BuildContext, buildReconciler } from "./build-reconciler.ts";
import type { PodView } from "./core/pod-view.ts";
import type { ReapPolicy } from "./core/policy.ts";
import type { ReaperSettings } from "./core/reaper-options.ts";
import { reportOf, reportOfUnselected, reportOfVerdict, stopped } from "./core/report.ts";
import { rightsNeeded } from "./core/rights.ts";
import { formatReapTable, type Row } from "./core/table.ts";
import { judgementOf } from "./core/verdict.ts";
import { readNamespaces } from "./namespaces.ts";
import type { PodRecord, PodRecords } from "./pod-record.ts";
import { readPods } from "./pods.ts";
import { createRights } from "./rights.ts";

/** What `ebb reaper` works with, as a service and with --once. */
export interface ReaperRun {
  readonly settings: ReaperSettings;
  /** Returns the policy, given the label ebb.dev/reap by namespace. */
  readonly policyIn: (namespaces: ReapPolicy["namespaces"]) => ReapPolicy;
  /** The reaper's name in Events. */
  readonly identity: string;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/**
 * Judges all selected pods once, ends the sidecars of those that are stuck, a limited number of pods at a time, and writes
 * the table or JSON to stdout. Resolves with the exit code: 69 if a sidecar is left that should have ended (never with
 * --dry-run), else 0. Rejects with Failure(69) if pods or namespaces cannot be read, Failure(64) if a named namespace
 * does not exist. `direct` is the client without a rate limit.
 */
export async function reapOnce(direct: ApiClient, once: ReaperRun): Promise<number> {
  const { settings, policyIn, log, signal } = once;
  const namespaces = settings.namespace.flat();
  const which = { namespaces, selector: settings.selector, resyncMs: settings.resync };
  const labels = await available(() => readNamespaces(direct, namespaces, { log, signal }), signal);
  const pods = await available(() => readPods(direct, which, signal), signal);
  const policy = policyIn(labels);
  // with --dry-run too: the table then says what would be missing
  const needed = rightsNeeded({ namespaces, methods: policy.methods, onlyLooks: false });
  const rights = createRights({ api: direct, needed, isByHand: policy.isByHand, log });
  await rights.review(signal);
  const rows = await reapPods(direct, pods, { ...once, policy: { ...policy, missing: rights.missing() } });
  await print(rows, settings);
  const isUndone = rows.some(({ result }) => undone.includes(result));
  return isUndone && !settings.dryRun ? EXIT.unavailable : EXIT.ok;
}

const undone: readonly Row["result"][] = ["gave up", "no permission", "put off", "stopped"];

/** Reconciles each of these pods until it is done with, and resolves with what became of them, in their order. */
export async function reapPods(
  direct: ApiClient,
  pods: readonly PodView[],
  {
    settings,
    policy,
    identity,
    log,
    signal,
  }: Pick<ReaperRun, "identity" | "log" | "signal"> & Pick<BuildContext, "settings"> & { readonly policy: ReapPolicy },
): Promise<readonly Row[]> {
  const records: PodRecords = new Map();
  const context = { settings, identity, records, policy: () => policy, isOnce: true, log };
  const { reconciler } = buildReconciler(direct, context);
  for (const pod of pods) reconciler.changed(pod);
  if (!settings.dryRun) await reconciler.run(signal);
  return [...records.values()].map((record) => {
    const { namespace, name } = record.pod;
    return { namespace, pod: name, ...reportOn(record, policy, settings.dryRun) };
  });
}

/** Describes what became of a pod, or would. */
function reportOn({ pod, verdict, attempt, outcome }: PodRecord, policy: ReapPolicy, isDryRun: boolean) {
  if (outcome !== undefined) return reportOf(outcome);
  if (attempt !== undefined || (verdict.kind === "end" && !isDryRun)) return stopped;
  if (verdict.kind !== "leave") return reportOfVerdict(verdict);
  const { rule, reason } = verdict;
  if (rule !== "not-selected") return { ...reportOfVerdict(verdict), reason: rule };
  return { ...reportOfUnselected(reason, judgementOf(pod, policy, Date.now()).state), reason: rule };
}

/**
 * Awaits `read`. Rejects with Failure(69) if the API server does not answer, or not with what is needed, or not before
 * the signal is aborted.
 */
async function available<T>(read: () => Promise<T>, signal: AbortSignal): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (signal.aborted)
      throw new Failure(EXIT.unavailable, "stopped by a signal before the whole cluster was read; run it again");
    if (!isApiFailure(error)) throw error;
    throw new Failure(EXIT.unavailable, `cannot read from the API server: ${error.message}`, { cause: error });
  }
}

async function print(rows: readonly Row[], { json, logLevel, allJobs }: ReaperSettings): Promise<void> {
  const table = () => formatReapTable(rows, { showsAll: logLevel === "debug", allJobs });
  await writeOutput(json ? `${JSON.stringify(rows, null, 2)}\n` : table());
}
