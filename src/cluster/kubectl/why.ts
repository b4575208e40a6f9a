import { hostname } from "node:os";
import { DOCTOR_EXIT, EXIT } from "../../shared/core/exit.ts";
import { isApiFailure } from "../api/api-error.ts";
import type { MethodKind } from "../reaper/core/methods.ts";
import { type ReapPolicy, reapPolicyOf } from "../reaper/core/policy.ts";
import type { ReaperSettings } from "../reaper/core/reaper-options.ts";
import { type Right, rightsNeeded } from "../reaper/core/rights.ts";
import type { Row } from "../reaper/core/table.ts";
import { judgementOf } from "../reaper/core/verdict.ts";
import { readNamespaces } from "../reaper/namespaces.ts";
import { reapPods } from "../reaper/reap-once.ts";
import { missingOf } from "../reaper/rights.ts";
import { reasonLines } from "./core/text.ts";
import { reasonOf } from "./core/why.ts";
import { type Format, type PluginSession, type PodSession, print } from "./session.ts";

type ReapSettings = Pick<ReaperSettings, "methods" | "allowReapExec" | "image" | "imagePullPolicy">;

interface WhySettings extends ReapSettings, Pick<ReaperSettings, "allJobs" | "after"> {
  readonly end: boolean;
  readonly output: Format;
}

interface Explaining extends PodSession {
  readonly settings: WhySettings;
  /** Those of the flags that can be used. */
  readonly methods: readonly MethodKind[];
}

/**
 * Prints why a pod is stuck, or not, and with --end ends its sidecars. Resolves with the exit code: 1 if it is stuck;
 * with --end 69 if a sidecar is left that should have ended.
 */
export async function explainPod({ settings, methods, ...session }: Explaining): Promise<number> {
  const { api, pod, namespace } = session;
  const labels = await readNamespaces(api, [namespace], session);
  const policy = reapPolicyOf(settings, methods, labels);
  const judged = judgementOf(pod, policy, Date.now());
  const endings = judged.state.kind === "end" ? judged.state.containers : [];
  const usable = endings.flatMap((each) => each.methods.map(({ kind }) => kind));
  const missing = await missingForMethods(
    methods.filter((each) => usable.includes(each)),
    session,
  );
  const reason = reasonOf(pod, judged, missing);
  const row = settings.end
    ? await endPod({ ...policy, missing, isByHand: true, isNamed: true }, settings, session)
    : undefined;
  const document = { ...reason, end: row === undefined ? null : { result: row.result, why: row.why } };
  await print(document, reasonLines(document), settings.output);
  if (row === undefined) return reason.stuck ? DOCTOR_EXIT.found : EXIT.ok;
  const isDone = row.result === "ended" || row.result === "gone";
  return reason.stuck && !isDone ? EXIT.unavailable : EXIT.ok;
}

/** Resolves with the permissions to use these methods that the caller lacks; none if the API server does not tell. */
async function missingForMethods(
  methods: readonly MethodKind[],
  { api, namespace, signal }: PluginSession,
): Promise<readonly Right[]> {
  const all = rightsNeeded({ namespaces: [namespace], methods, onlyLooks: false });
  const ofMethods = all.filter(({ method }) => method !== undefined);
  try {
    return await missingOf(api, ofMethods, signal);
  } catch (error) {
    if (signal.aborted || !isApiFailure(error)) throw error;
    return [];
  }
}

/** client-go's limits for kubectl (k8s.io/cli-runtime pkg/genericclioptions); nothing waits for them with one pod. */
const limits = { concurrency: 1, qps: 50, burst: 300, dryRun: false };

/** Ends the sidecars of one pod, as `ebb reaper --once` does. */
async function endPod(
  policy: ReapPolicy,
  { image, imagePullPolicy }: ReapSettings,
  { api, pod, log, signal }: PodSession,
): Promise<Row> {
  const settings = { ...limits, image, imagePullPolicy };
  const [row] = await reapPods(api, [pod], { policy, settings, identity: hostname(), log, signal });
  return row as Row;
}
