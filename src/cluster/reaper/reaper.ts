import { hostname } from "node:os";
import { version } from "../../../package.json";
import type { Environment } from "../../shared/core/environment.ts";
import { EXIT } from "../../shared/core/exit.ts";
import { redactUrl } from "../../shared/core/redact.ts";
import type { Log } from "../../shared/output/log.ts";
import type { Signals } from "../../shared/process/signals.ts";
import { isInCluster } from "../api/access.ts";
import { type ApiClient, findApiServer } from "../api/client.ts";
import { openHealth } from "../controller/health.ts";
import { stopsOf } from "../controller/stops.ts";
import type { Answered } from "../controller/throttle.ts";
import { buildReconciler } from "./build-reconciler.ts";
import type { MethodKind } from "./core/methods.ts";
import { REAP } from "./core/pod-view.ts";
import { type ReapPolicy, reapPolicyOf, selectionOf } from "./core/policy.ts";
import type { ReaperSettings } from "./core/reaper-options.ts";
import { rightsNeeded } from "./core/rights.ts";
import { isUnderWay, type PodRecords, presentIn } from "./pod-record.ts";
import { watchPods } from "./pods.ts";
import { type ReaperRun, reapOnce } from "./reap-once.ts";
import { createReaperMetrics } from "./reaper-metrics.ts";
import { createRights } from "./rights.ts";

/** What `ebb reaper` needs beside its settings. */
interface ReaperContext {
  /** The methods that --methods allows and that can be used. */
  readonly methods: readonly MethodKind[];
  readonly env: Environment;
  readonly log: Log;
  readonly signals: Signals;
}

/**
 * Runs `ebb reaper` until a stop signal, or once with --once. Resolves with the exit code. Rejects with Failure if no
 * API server is configured, if the probes' address cannot be bound, and as `reapOnce` does.
 */
export async function main(settings: ReaperSettings, { methods, env, log, signals }: ReaperContext): Promise<number> {
  const api = await findApiServer({ env, kubeconfig: settings.kubeconfig, context: settings.context }, log);
  log.info(
    { server: redactUrl(api.server), namespaces: settings.namespace.flat(), methods, dryRun: settings.dryRun },
    "starting the reaper",
  );
  const isByHand = settings.once && !isInCluster(env);
  const policyIn = (namespaces: ReapPolicy["namespaces"]): ReapPolicy => ({
    ...reapPolicyOf(settings, methods, namespaces),
    isByHand,
  });
  const reaping = { settings, policyIn, identity: hostname(), log, signal: stopsOf(signals).first };
  if (settings.once) return await reapOnce(api, reaping);
  await serve(api, reaping);
  return EXIT.ok;
}

/** Watches pods and ends the sidecars of stuck ones until the signal is aborted. `direct` has no rate limit. */
async function serve(direct: ApiClient, { settings, policyIn, identity, log, signal }: ReaperRun): Promise<void> {
  const which = { namespaces: settings.namespace.flat(), selector: settings.selector, resyncMs: settings.resync };
  const { methods } = policyIn(new Map());
  const needed = rightsNeeded({ namespaces: which.namespaces, methods, onlyLooks: settings.dryRun });
  const records: PodRecords = new Map();
  const gauges = {
    records,
    missingRights: () => rights.missing().length,
    depth: () => reconciler.depth(),
    underWay: () => [...records.values()].filter(isUnderWay).length,
    syncedAt: () => source.syncedAt(),
  };
  const metrics = createReaperMetrics(version, gauges, settings.image);
  const policy = (): ReapPolicy => ({ ...policyIn(source.namespaces()), missing: rights.missing() });
  const answered: Answered = (verb, code, error) => {
    metrics.requested(verb, code);
    rights.refused(error);
  };
  const context = { settings, identity, answered, records, metrics, policy, isOnce: false, log };
  const { reconciler, limited } = buildReconciler(direct, context);
  const rights = createRights({ api: limited, needed, changed: reconciler.reconsider, log });
  const source = watchPods(limited, which, log, metrics.interrupted);
  const unready = () =>
    rights.problem() ?? (source.syncedAt() === undefined ? "the pods are not listed yet" : undefined);
  const health = openHealth(settings.healthListen, metrics, { unready });
  log.info({ port: health.port }, "serving probes and metrics");
  // what throws is a bug, and ends all of it
  void source.listed.then(() => sayIfUnselected(records, policy(), log));
  await rights.review(signal);
  await Promise.all([rights.run(signal), source.run(reconciler, signal), reconciler.run(signal)]);
  await health.close();
}

/** Warns if no pod and no namespace has opted in, as right after an installation: the reaper would never act. */
function sayIfUnselected(records: PodRecords, policy: ReapPolicy, log: Log): void {
  if (policy.allJobs || policy.namespaces.size > 0) return;
  const pods = presentIn(records).map(({ pod }) => pod);
  if (pods.some((pod) => selectionOf(pod, policy).kind !== "not in")) return;
  const how = `label a pod or a namespace ${REAP}=true, or run the reaper with --all-jobs`;
  log.warn({ pods: pods.length, how }, "no pod is selected: no namespace or pod has opted in");
}
