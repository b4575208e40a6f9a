import { version } from "../../../package.json";
import type { ReaperSettings } from "../../core/cli/cluster/reaper-options.ts";
import type { ReapPolicy } from "../../core/reap/policy.ts";
import { reportOf, reportOfUnselected, reportOfVerdict } from "../../core/reap/report.ts";
import { rightsNeeded } from "../../core/reap/rights.ts";
import { formatReapTable, type Row } from "../../core/reap/table.ts";
import { type Verdict, verdictOf } from "../../core/reap/verdict.ts";
import { EXIT, Failure } from "../../core/run/exit.ts";
import type { Log } from "../../system/output/log.ts";
import { writeOutput } from "../../system/output/output.ts";
import { isApiFailure } from "../api/api-error.ts";
import type { ApiClient, KubeObject } from "../api/client.ts";
import { pause } from "../controller/pause.ts";
import { createActs } from "./act/act.ts";
import { type Attempts, createAttempts } from "./attempts.ts";
import { readNamespaces } from "./namespaces.ts";
import { createPodEvents, type PodEvents } from "./pod-events.ts";
import { listPods, podRefOf } from "./pods.ts";
import { createReaperMetrics } from "./reaper-metrics.ts";
import { emptyMemory, knownNow, type Memory } from "./reconciler.ts";
import { createRightsChecker, type RightsChecker } from "./rights.ts";
import { createGate, throttleClient } from "./throttle.ts";

/** What `ebb reaper --once` needs. */
export interface Once {
  readonly settings: ReaperSettings;
  /** Returns the policy, given the label ebb.dev/reap by namespace. */
  readonly policyIn: (namespaces: ReapPolicy["namespaces"]) => ReapPolicy;
  /** This replica's name in Events. */
  readonly identity: string;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/**
 * Judges all selected pods once, ends the sidecars of those that are stuck, --concurrency pods at a time, and writes
 * the table or JSON to stdout. Resolves with the exit code: 69 if a sidecar is left that should have ended (never with
 * --dry-run), else 0. Rejects with Failure(69) if pods or namespaces cannot be read, Failure(64) if a named namespace
 * does not exist. `direct` is the client without a rate limit.
 */
export async function reapOnce(direct: ApiClient, once: Once): Promise<number> {
  const { settings, policyIn, identity, log, signal } = once;
  const which = { namespaces: settings.namespace.flat(), selector: settings.selector, resyncMs: settings.resync };
  const { pods, namespaces } = await available(
    async () => ({
      namespaces: await readNamespaces(direct, which, log, signal),
      pods: await listPods(direct, which, signal),
    }),
    signal,
  );
  const memory = emptyMemory();
  const gate = createGate({ perSecond: settings.qps, burst: settings.burst }, log);
  const api = throttleClient(direct, gate);
  const rights = rightsOnce(direct, once);
  await rights.check(signal);
  const policy = { ...policyIn(namespaces), missing: rights.missing() };
  const events = createPodEvents(api, identity, log);
  const attempts = createAttempts({
    api,
    perform: createActs({ ...settings, api, gate: gate.turn, denied: rights.check, log }),
    denied: rights.check,
    events,
    metrics: createReaperMetrics(version, idle),
    policy: () => policy,
    known: () => knownNow(memory),
    watches: false,
    log,
  });
  const rows: Row[] = [];
  const [...left] = pods.entries();
  const work = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const [at, pod] = next;
      rows[at] = await reapPod(pod, { ...once, policy, memory, attempts, events });
    }
  };
  await Promise.all(Array.from({ length: settings.concurrency }, work));
  await print(rows, settings);
  const isUndone = rows.some(({ result }) => undone.includes(result));
  return isUndone && !settings.dryRun ? EXIT.unavailable : EXIT.ok;
}

/**
 * Creates the checker of all rights that reaping needs, with --dry-run too: the table then says what would be missing.
 */
function rightsOnce(api: ApiClient, { settings, policyIn, log }: Once): RightsChecker {
  const { methods } = policyIn(new Map());
  const which = { namespaces: settings.namespace.flat(), methods, onlyLooks: false, lease: undefined };
  return createRightsChecker({ api, needed: rightsNeeded(which), log });
}

const undone: readonly Row["result"][] = ["gave up", "no permission", "put off", "stopped"];

const idle = {
  leads: () => true,
  isCircuitOpen: () => false,
  depth: () => 0,
  underWay: () => 0,
  missingRights: () => 0,
  syncedAt: () => 0,
};

/**
 * Awaits `asked`. Rejects with Failure(69) if the API server does not answer, or not with what is needed, or not before
 * the signal is aborted.
 */
async function available<T>(asked: () => Promise<T>, signal: AbortSignal): Promise<T> {
  try {
    return await asked();
  } catch (error) {
    if (signal.aborted)
      throw new Failure(EXIT.unavailable, "stopped by a signal before the whole cluster was read; run it again");
    if (!isApiFailure(error)) throw error;
    throw new Failure(EXIT.unavailable, `cannot read from the API server: ${error.message}`, { cause: error });
  }
}

interface Around extends Once {
  readonly policy: ReapPolicy;
  readonly memory: Memory;
  readonly attempts: Attempts;
  readonly events: PodEvents;
}

async function reapPod(pod: KubeObject, around: Around): Promise<Row> {
  const { settings, signal, attempts } = around;
  const { namespace, name } = podRefOf(pod);
  const row = (rest: Omit<Row, "namespace" | "pod">): Row => ({ namespace, pod: name, ...rest });
  const verdict = settings.dryRun ? judge(pod, around) : await judgeInTime(pod, around);
  if (verdict.rule === "not-selected") {
    const would = judge(pod, { ...around, policy: { ...around.policy, asIfSelected: true } });
    return row({ ...reportOfUnselected(verdict.reason, would), reason: verdict.rule });
  }
  if (verdict.kind === "leave") return row({ ...reportOfVerdict(verdict), reason: verdict.rule });
  if (verdict.kind === "later" || settings.dryRun) return row(reportOfVerdict(verdict));
  const told = await toldBefore(pod, verdict, around);
  if (told !== undefined) return row({ result: "later", why: told });
  return row(reportOf(await attempts.make(pod, verdict, signal)));
}

function judge(pod: KubeObject, { policy, memory }: Around): Verdict {
  return verdictOf(pod, policy, knownNow(memory));
}

/** Judges a pod. If it is too early, waits until --after is over, and judges it again. */
async function judgeInTime(pod: KubeObject, around: Around): Promise<Verdict> {
  const verdict = judge(pod, around);
  if (verdict.kind !== "later") return verdict;
  const { uid } = podRefOf(pod);
  around.memory.seen.set(uid, Date.now());
  await pause(verdict.at - Date.now() + 1, around.signal);
  return judge(pod, around);
}

/**
 * Says that an earlier run asked this sidecar to quit, if its time to end is not over yet. Resolves with undefined
 * otherwise.
 */
async function toldBefore(
  pod: KubeObject,
  { containers }: Extract<Verdict, { kind: "end" }>,
  { events, signal }: Around,
): Promise<string | undefined> {
  const [ending] = containers;
  const toldAt = await events.lastTold(podRefOf(pod), signal);
  if (toldAt === undefined || ending === undefined || toldAt + ending.patienceMs < Date.now()) return undefined;
  return `${ending.container} was asked to quit ${Math.round((Date.now() - toldAt) / 1000)} s ago, and may take ${ending.patienceMs / 1000} s`;
}

async function print(rows: readonly Row[], { json, logLevel, allJobs }: ReaperSettings): Promise<void> {
  const table = () => formatReapTable(rows, { showsAll: logLevel === "debug", allJobs });
  const text = json ? `${JSON.stringify(rows, null, 2)}\n` : table();
  await writeOutput(text);
}
