import { hostname } from "node:os";
import { readOperandCall } from "../../core/cli/call.ts";
import type { ReaperSettings } from "../../core/cli/cluster/reaper-options.ts";
import { farEnvoysOf, throughTunnel } from "../../core/kubectl/forwarded.ts";
import { farDrainOptions } from "../../core/kubectl/options.ts";
import { reasonLines } from "../../core/kubectl/text.ts";
import { reasonOf } from "../../core/kubectl/why.ts";
import type { MethodKind } from "../../core/reap/methods.ts";
import { selectionRules, useRules } from "../../core/reap/pod-rules.ts";
import { viewOf } from "../../core/reap/pod-view.ts";
import { policyOf, type ReapPolicy } from "../../core/reap/policy.ts";
import { type Right, rightsNeeded } from "../../core/reap/rights.ts";
import type { Row } from "../../core/reap/table.ts";
import { DOCTOR_EXIT, EXIT, Failure } from "../../core/run/exit.ts";
import type { Sidecar } from "../../core/sidecars/sidecar.ts";
import { drainAll } from "../../system/envoy/drain.ts";
import { createLog } from "../../system/output/log.ts";
import { writeOutput } from "../../system/output/output.ts";
import { isApiFailure } from "../api/api-error.ts";
import { readNamespaces } from "../reaper/namespaces.ts";
import { reapEach } from "../reaper/reap-once.ts";
import { missingOf } from "../reaper/rights.ts";
import { runInEphemeral } from "./ephemeral.ts";
import { execEbb } from "./exec.ts";
import { type Format, type PodSession, print, readAgain, refuseWords, type Session } from "./session.ts";
import { openTunnel } from "./tunnel.ts";
import { findInPod, findWay, type PodSettings } from "./way.ts";

type Reaping = Pick<ReaperSettings, "methods" | "allowReapExec" | "image" | "imagePullPolicy">;

/**
 * Drains a pod by the ebb in it, or its Envoys through a port-forward, or by an ephemeral container. `words` are the
 * flags of `ebb drain`. Resolves with the exit code.
 */
export async function drainPod(
  words: readonly string[],
  { settings, ...session }: PodSession & { readonly settings: PodSettings },
): Promise<number> {
  const far = farEnvoysOf(viewOf(session.pod));
  const way = await findWay({ ...settings, far }, session);
  const call = ["drain", ...words];
  if (way.kind === "exec") return await execEbb(way, call, session);
  if (way.kind === "none")
    throw new Failure(
      EXIT.unavailable,
      `pod ${session.ref.name}: ${way.why}; --image IMAGE allows an ephemeral container`,
    );
  if (way.kind === "port-forward") {
    const check = () => readAgain(session);
    await check(); // the tunnel has nobody to tell
    using tunnel = await openTunnel(far, session, check);
    return await drainThrough(
      far.map(({ sidecar }) => throughTunnel(sidecar, tunnel.via)),
      words,
      session,
    );
  }
  const { text, code } = await runInEphemeral(call, settings, session);
  await writeOutput(text);
  return code;
}

/** Drains the sidecars of another pod, which are reached through a tunnel; `words` are flags of `ebb drain`. */
async function drainThrough(
  sidecars: readonly Sidecar[],
  words: readonly string[],
  { signal }: Session,
): Promise<number> {
  const { values } = readOperandCall(farDrainOptions, { args: words, env: {} });
  const { drain: drainMs, minDrain: minMs, maxInFlight } = values;
  const log = createLog(values, { env: {} });
  log.info({ atMostMs: drainMs }, "draining");
  const options = { totalMs: drainMs, boundMs: drainMs, minMs, maxInFlight, wereReady: false, log, signal };
  return (await drainAll(sidecars, options)) ? EXIT.ok : EXIT.unavailable;
}

/**
 * Quits a pod's sidecars by the ebb in it, or by the reaper's methods, whatever the app does. `words` are the flags of
 * `ebb quit`. Resolves with the exit code. Rejects with Failure(69) if a sidecar is left.
 */
export async function quitPod(
  words: readonly string[],
  { settings, methods, ...session }: PodSession & Ending & { readonly settings: PodSettings },
): Promise<number> {
  const { ref, log } = session;
  const found = await findInPod(settings, session);
  if ("path" in found) return await execEbb(found, ["quit", ...words], session);
  refuseWords(words);
  log.info({ pod: ref.name, reason: found.why }, "no ebb in the pod: using the reaper's methods");
  const policy = policyOf({ ...settings, after: 0, allJobs: false }, methods, new Map());
  const missing = await lackedRights(methods, session);
  const row = await endPod({ ...policy, missing, waived: useRules }, settings, session);
  if (row.result === "ended" || row.reason === "over" || row.reason === "sidecars-ended") return EXIT.ok;
  throw new Failure(EXIT.unavailable, `pod ${ref.name}: ${row.why}`);
}

/** How sidecars are ended. `methods`: those of the flags that can be used. */
interface Ending {
  readonly settings: Reaping;
  readonly methods: readonly MethodKind[];
}

interface WhySettings extends Reaping, Pick<ReaperSettings, "allJobs" | "after"> {
  readonly end: boolean;
  readonly output: Format;
}

/**
 * Prints why a pod is stuck, or not, and with --end ends its sidecars. Resolves with the exit code: 1 if it is stuck;
 * with --end 69 if a sidecar is left that should have ended.
 */
export async function explainPod({
  settings,
  methods,
  ...session
}: PodSession & Ending & { readonly settings: WhySettings }): Promise<number> {
  const { api, pod, namespace } = session;
  const labels = await readNamespaces(api, [namespace], session);
  const policy = policyOf(settings, methods, labels);
  const now = Date.now();
  const usable = reasonOf(pod, policy, { now, missing: [] }).methods.map(({ kind }) => kind);
  const missing = await lackedRights(
    methods.filter((each) => usable.includes(each)),
    session,
  );
  const reason = reasonOf(pod, policy, { now, missing });
  const row = settings.end
    ? await endPod({ ...policy, missing, waived: selectionRules }, settings, session)
    : undefined;
  const document = { ...reason, end: row === undefined ? null : { result: row.result, why: row.why } };
  await print(document, reasonLines(document), settings.output);
  if (row === undefined) return reason.stuck ? DOCTOR_EXIT.found : EXIT.ok;
  const isDone = row.result === "ended" || row.result === "gone";
  return reason.stuck && !isDone ? EXIT.unavailable : EXIT.ok;
}

/** Resolves with the permissions to use these methods that the caller lacks; none if the API server does not tell. */
async function lackedRights(
  methods: readonly MethodKind[],
  { api, namespace, signal }: Session,
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
  { image, imagePullPolicy }: Reaping,
  { api, pod, log, signal }: PodSession,
): Promise<Row> {
  const settings = { ...limits, image, imagePullPolicy };
  const rights = { refused: () => undefined };
  const [row] = await reapEach(api, [pod], { policy, rights, settings, identity: hostname(), log, signal });
  return row as Row;
}
