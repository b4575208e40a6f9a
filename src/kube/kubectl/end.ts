import type { ReaperSettings } from "../../core/cli/cluster/reaper-options.ts";
import { throughTunnel } from "../../core/kubectl/forwarded.ts";
import { reasonLines } from "../../core/kubectl/text.ts";
import { reasonOf } from "../../core/kubectl/why.ts";
import type { MethodKind } from "../../core/reap/methods.ts";
import { policyOf, type ReapPolicy } from "../../core/reap/policy.ts";
import { type Right, rightsNeeded } from "../../core/reap/rights.ts";
import type { Row } from "../../core/reap/table.ts";
import { DOCTOR_EXIT, EXIT, Failure } from "../../core/run/exit.ts";
import type { Sidecar } from "../../core/sidecars/sidecar.ts";
import { writeOutput } from "../../system/output/output.ts";
import { isApiFailure } from "../api/api-error.ts";
import type { KubeObject } from "../api/client.ts";
import { replicaName } from "../controller/lease.ts";
import { podRefOf } from "../reaper/act/acting.ts";
import { readNamespaces } from "../reaper/namespaces.ts";
import { available, reapEach } from "../reaper/reap-once.ts";
import { missingOf } from "../reaper/rights.ts";
import { runInEphemeral } from "./ephemeral.ts";
import { execEbb } from "./exec.ts";
import {
  type Around,
  type ClusterSettings,
  type Format,
  openSession,
  print,
  readPod,
  refuseWords,
  type Session,
} from "./session.ts";
import { openTunnel } from "./tunnel.ts";
import { findInPod, findWay } from "./way.ts";

type Reaping = Pick<ReaperSettings, "methods" | "allowReapExec" | "image" | "imagePullPolicy">;

/** The flags of `kubectl ebb drain` and `quit`. */
export interface PodSettings extends ClusterSettings {
  readonly container: string | undefined;
  readonly image: string | undefined;
  readonly imagePullPolicy: string | undefined;
}

/** Drains sidecars that are reached through a tunnel: the caller's, which has the code for it. */
export type Drain = (sidecars: readonly Sidecar[], words: readonly string[]) => Promise<number>;

/**
 * Drains a pod by the ebb in it, or its Envoys through a port-forward, or by an ephemeral container. `words` are the
 * flags of `ebb drain`. Resolves with the exit code.
 */
export async function drainPod(
  name: string,
  words: readonly string[],
  { settings, drain, ...around }: Around & { readonly settings: PodSettings; readonly drain: Drain },
): Promise<number> {
  const session = await openSession(settings, around);
  const pod = await readPod(session, name, around.signal);
  const isMeant = ({ sidecar }: { readonly sidecar: Sidecar }) => sidecar.envoy !== undefined;
  const way = await findWay(pod, { ...settings, isMeant }, session, around);
  const context = { api: session.api, pod: podRefOf(pod), signal: around.signal };
  switch (way.kind) {
    case "exec":
      return await execEbb(way, ["drain", ...words], context);
    case "ephemeral": {
      const { text, code } = await runInEphemeral(["drain", ...words], { ...context, ...settings, image: way.image });
      await writeOutput(text);
      return code;
    }
    case "port-forward": {
      using tunnel = await openTunnel([...new Set(way.far.flatMap(({ ports }) => ports))], context);
      return await drain(
        way.far.map(({ sidecar }) => throughTunnel(sidecar, tunnel.via)),
        words,
      );
    }
    case "none":
      throw new Failure(EXIT.unavailable, `pod ${name}: ${way.why}; --image IMAGE allows an ephemeral container`);
  }
}

/**
 * Quits a pod's sidecars by the ebb in it, or by the reaper's methods, whatever the app does. `words` are the flags of
 * `ebb quit`. Resolves with the exit code: 69 if a sidecar is left.
 */
export async function quitPod(
  name: string,
  words: readonly string[],
  {
    settings,
    methods,
    ...around
  }: Around & { readonly settings: PodSettings & Reaping; readonly methods: readonly MethodKind[] },
): Promise<number> {
  const session = await openSession(settings, around);
  const pod = await readPod(session, name, around.signal);
  const found = await findInPod(pod, settings, session, around.signal);
  const context = { api: session.api, pod: podRefOf(pod), signal: around.signal };
  if ("path" in found) return await execEbb(found, ["quit", ...words], context);
  refuseWords(words);
  around.log.info({ pod: name, reason: found.why }, "no ebb in the pod: using the reaper's methods");
  const policy = policyOf({ ...settings, after: 0, allJobs: false }, methods, new Map());
  const missing = await lackedRights(session, policy, around.signal);
  const row = await endPod(pod, { session, settings, policy: { ...policy, missing, regardless: true }, around });
  if (row.result === "ended" || row.reason === "over" || row.reason === "sidecars-ended") return EXIT.ok;
  throw new Failure(EXIT.unavailable, `pod ${name}: ${row.why}`);
}

/** The flags of `kubectl ebb why`. */
export type WhySettings = ClusterSettings &
  Reaping &
  Pick<ReaperSettings, "allJobs" | "after"> & { readonly end: boolean; readonly output: Format };

/**
 * Prints why a pod is stuck, or not, and with --end ends its sidecars. Resolves with the exit code: 1 if it is stuck;
 * with --end 69 if a sidecar is left that should have ended.
 */
export async function explainPod(
  name: string,
  {
    settings,
    methods,
    ...around
  }: Around & { readonly settings: WhySettings; readonly methods: readonly MethodKind[] },
): Promise<number> {
  const { signal, log } = around;
  const session = await openSession(settings, around);
  const pod = await readPod(session, name, signal);
  const { namespace } = podRefOf(pod);
  const labels = await available(() => readNamespaces(session.api, [namespace], { log, signal }), signal);
  const policy = policyOf(settings, methods, labels);
  const missing = await lackedRights(session, policy, signal);
  const reason = reasonOf(pod, policy, { now: Date.now(), missing });
  const chosen: ReapPolicy = { ...policy, missing, asIfSelected: true };
  const row = settings.end ? await endPod(pod, { session, settings, policy: chosen, around }) : undefined;
  const document = { ...reason, end: row === undefined ? null : { result: row.result, why: row.why } };
  await print(document, reasonLines(document), settings.output);
  if (row === undefined) return reason.stuck ? DOCTOR_EXIT.found : EXIT.ok;
  const isDone = row.result === "ended" || row.result === "gone";
  return reason.stuck && !isDone ? EXIT.unavailable : EXIT.ok;
}

/** Resolves with the permissions to use the methods that the caller lacks; none if the API server does not tell. */
async function lackedRights(
  { api, namespace }: Session,
  { methods }: ReapPolicy,
  signal: AbortSignal,
): Promise<readonly Right[]> {
  const all = rightsNeeded({ namespaces: [namespace], methods, onlyLooks: false, lease: undefined });
  try {
    return await missingOf(
      api,
      all.filter(({ method }) => method !== undefined),
      signal,
    );
  } catch (error) {
    if (signal.aborted || !isApiFailure(error)) throw error;
    return [];
  }
}

interface Ending {
  readonly session: Session;
  readonly settings: Pick<Reaping, "image" | "imagePullPolicy">;
  readonly policy: ReapPolicy;
  readonly around: Around;
}

/** client-go's limits for kubectl (k8s.io/cli-runtime pkg/genericclioptions); nothing waits for them with one pod. */
const limits = { concurrency: 1, qps: 50, burst: 300, dryRun: false };

/** Ends the sidecars of one pod, as `ebb reaper --once` does. */
async function endPod(pod: KubeObject, { session, settings, policy, around }: Ending): Promise<Row> {
  const { log, signal } = around;
  const { image, imagePullPolicy } = settings;
  const rights = { refused: () => undefined };
  const how = { policy, rights, identity: replicaName(), log, signal, settings: { ...limits, image, imagePullPolicy } };
  const [row] = await reapEach(session.api, [pod], how);
  return row as Row;
}
