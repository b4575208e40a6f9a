import { EXIT, Failure } from "../../shared/core/exit.ts";
import type { Log } from "../../shared/output/log.ts";
import { writeOutput } from "../../shared/output/output.ts";
import { isApiFailure } from "../api/api-error.ts";
import type { ApiClient, KubeObject } from "../api/client.ts";
import { createAttempts } from "./attempts.ts";
import { createController } from "./controller.ts";
import type { ReapPolicy } from "./core/policy.ts";
import type { ReaperSettings } from "./core/reaper-options.ts";
import { reportOf, reportOfUnselected, reportOfVerdict, stopped } from "./core/report.ts";
import { rightsNeeded } from "./core/rights.ts";
import { formatReapTable, type Row } from "./core/table.ts";
import { stateOf, type Verdict, verdictOf } from "./core/verdict.ts";
import { createSender } from "./methods/send.ts";
import { podRefOf } from "./methods/target.ts";
import { readNamespaces } from "./namespaces.ts";
import { createPodEvents } from "./pod-events.ts";
import { listPods } from "./pods.ts";
import { createRights, type Rights } from "./rights.ts";
import { type Answered, atOnce, createRateLimit, throttleClient } from "./throttle.ts";

/** What `ebb reaper` works with, as a service and with --once. */
export interface Reaping {
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
export async function reapOnce(direct: ApiClient, once: Reaping): Promise<number> {
  const { settings, policyIn, log, signal } = once;
  const namespaces = settings.namespace.flat();
  const which = { namespaces, selector: settings.selector, resyncMs: settings.resync };
  const labels = await available(() => readNamespaces(direct, namespaces, { log, signal }), signal);
  const pods = await available(() => listPods(direct, which, signal), signal);
  const policy = policyIn(labels);
  // with --dry-run too: the table then says what would be missing
  const needed = rightsNeeded({ namespaces, methods: policy.methods, onlyLooks: false });
  const rights = createRights({ api: direct, needed, isByHand: policy.isByHand, log });
  await rights.review(signal);
  const rows = await reapEach(direct, pods, { ...once, policy: { ...policy, missing: rights.missing() }, rights });
  await print(rows, settings);
  const isUndone = rows.some(({ result }) => undone.includes(result));
  return isUndone && !settings.dryRun ? EXIT.unavailable : EXIT.ok;
}

const undone: readonly Row["result"][] = ["gave up", "no permission", "put off", "stopped"];

/** What `reapEach` works with. */
export interface Deps extends Pick<Reaping, "identity" | "log" | "signal"> {
  readonly settings: Pick<ReaperSettings, "concurrency" | "qps" | "burst" | "dryRun" | "image" | "imagePullPolicy">;
  readonly policy: ReapPolicy;
  readonly rights: Pick<Rights, "refused">;
}

/** Reconciles each of these pods until it is done with, and resolves with what became of them, in their order. */
export async function reapEach(direct: ApiClient, listed: readonly KubeObject[], deps: Deps): Promise<readonly Row[]> {
  const { settings, policy, rights, identity, log, signal } = deps;
  const turn = createRateLimit({ perSecond: settings.qps, burst: settings.burst });
  const answered: Answered = (_verb, _code, error) => rights.refused(error);
  const api = throttleClient(direct, atOnce, answered);
  const events = createPodEvents(throttleClient(direct, turn, answered), identity, log);
  const seen = new Map<string, number>();
  const memoryOf = (uid: string) => ({ now: Date.now(), seenAt: seen.get(uid) });
  const attempts = createAttempts({
    ...{ api, turn, events, memoryOf, polls: true, log, policy: () => policy },
    send: createSender({ ...settings, api, turn, denied: rights.refused, log }),
    metrics: { sent: () => undefined, attempted: () => undefined },
    refusedRounds: 1, // who waits for the end of the command gains nothing from the same answer again
  });
  const pods = new Map(listed.map((pod) => [podRefOf(pod).uid, pod]));
  const rows = new Map<string, Row>();
  const put = (pod: KubeObject, rest: Omit<Row, "namespace" | "pod">): undefined => {
    const { uid, namespace, name } = podRefOf(pod);
    rows.set(uid, { namespace, pod: name, ...rest });
  };
  const judge = (pod: KubeObject): Verdict => {
    const verdict = verdictOf(pod, policy, memoryOf(podRefOf(pod).uid));
    const isBegun = verdict.kind === "end" && !settings.dryRun;
    put(pod, isBegun ? stopped : reportNow(pod, verdict, policy));
    return verdict;
  };
  /** Judges a pod, and returns the milliseconds after which its time has come; undefined: nothing is done to it. */
  const take = (uid: string, pod: KubeObject): number | undefined => {
    const verdict = judge(pod);
    if (verdict.kind === "leave" || settings.dryRun) return undefined;
    if (verdict.kind === "end") attempts.begin(pod, verdict);
    else if (!seen.has(uid)) seen.set(uid, Date.now());
    return verdict.kind === "later" ? verdict.at - Date.now() + 1 : 0;
  };
  const controller = createController(async (uid) => {
    const pod = pods.get(uid) as KubeObject;
    if (!attempts.has(uid)) return take(uid, pod); // its time has come
    const step = await attempts.step(uid, signal);
    return typeof step === "number" ? step : put(pod, reportOf(step));
  }, settings.concurrency);
  for (const [uid, pod] of pods) {
    const afterMs = take(uid, pod);
    if (afterMs !== undefined) controller.add(uid, afterMs);
  }
  await controller.run(signal, true);
  return [...rows.values()];
}

/** Describes a pod that nothing is done to now: for --dry-run, and for those that wait or are left. */
function reportNow(pod: KubeObject, verdict: Verdict, policy: ReapPolicy) {
  if (verdict.kind !== "leave") return reportOfVerdict(verdict);
  const { rule, reason } = verdict;
  if (rule !== "not-selected") return { ...reportOfVerdict(verdict), reason: rule };
  return { ...reportOfUnselected(reason, stateOf(pod, policy, Date.now())), reason: rule };
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
  const text = json ? `${JSON.stringify(rows, null, 2)}\n` : table();
  await writeOutput(text);
}
